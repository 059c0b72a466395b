#include "tensor/activation.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr float kActivationSlope = 0.3f;
constexpr Activation kAll[] = {Activation::kRelu2, Activation::kLeakyRelu2, Activation::kGelu,
                               Activation::kSilu};
WT_KERNEL_TEST(ActivationTest);

double ActivationTwin(Activation kind, double x) {
  const double leaky = x > 0 ? x : static_cast<double>(kActivationSlope) * x;
  switch (kind) {
    case Activation::kRelu2:
      return x > 0 ? x * x : 0;
    case Activation::kLeakyRelu2:
      return leaky * leaky;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

Doubles Swiglu(const Doubles& gate, const Doubles& up) {
  Doubles y(gate.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = ActivationTwin(Activation::kSilu, gate[i]) * up[i];
  return y;
}

TEST_P(ActivationTest, ForwardIsTheTwin) {
  for (Activation kind : kAll) {
    TestArray x = Random(211, 1, 3), y = Empty(211);
    ActivationForward(kind, kActivationSlope, 211, x.array(), y.array());
    Doubles want = x.doubles();
    for (double& w : want) w = ActivationTwin(kind, w);
    ExpectClose(y, want);
  }
}

TEST_P(ActivationTest, BackwardIsTheTwinsSlope) {
  for (Activation kind : kAll) {
    TestArray x = Random(211, 2, 3), dy = Random(211, 3);
    Doubles want(211);
    for (int64_t i = 0; i < 211; ++i) {
      want[i] =
          dy[i] * (ActivationTwin(kind, x[i] + 1e-5) - ActivationTwin(kind, x[i] - 1e-5)) / 2e-5;
    }
    ActivationBackward(kind, kActivationSlope, 211, x.array(), dy.array(), dy.array());
    ExpectClose(dy, want);
  }
}

TEST_P(ActivationTest, LargeInputsStayFinite) {
  TestArray x = Empty(4), y = Empty(4);
  const double big[] = {1e4, -1e4, 200, -200};
  for (int i = 0; i < 4; ++i) x.Set(i, big[i]);
  for (Activation kind : {Activation::kGelu, Activation::kSilu}) {
    ActivationForward(kind, 0, 4, x.array(), y.array());
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], std::max(0.0, x[i]), 1e-6) << big[i];
  }
}

TEST_P(ActivationTest, SwigluAndItsGradients) {
  const int64_t n = 53;
  TestArray gate = Random(n, 4, 2), up = Random(n, 5), dy = Random(n, 6), y = Empty(n);
  TestArray dgate = Empty(n), dup = Empty(n);
  SwigluForward(n, gate.array(), up.array(), y.array());
  ExpectClose(y, Swiglu(gate.doubles(), up.doubles()));
  SwigluBackward(n, gate.array(), up.array(), dy.array(), dgate.array(), dup.array());
  ExpectClose(dgate, NumericGradient(gate.doubles(), [&](const Doubles& at) {
                return Inner(Swiglu(at, up.doubles()), dy.doubles());
              }));
  ExpectClose(dup, NumericGradient(up.doubles(), [&](const Doubles& at) {
                return Inner(Swiglu(gate.doubles(), at), dy.doubles());
              }));
}

TEST_P(ActivationTest, SameBitsAtAnyThreads) {
  TestArray x = Random(50001, 7), y = Empty(50001);
  ExpectSameAtAnyThreads([&] {
    ActivationForward(Activation::kSilu, 0, 50001, x.array(), y.array());
    return y.bytes();
  });
}

}  // namespace
}  // namespace wt::tensor
