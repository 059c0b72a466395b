#include "tensor/smear.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr SmearShape kSmearShape{3, 5, 19};
constexpr int64_t kSmearRows = 15, kSmearSize = kSmearRows * 19;
WT_KERNEL_TEST(SmearTest);

Doubles SmearTwin(const SmearShape& s, const Doubles& x, const Doubles& g, double lambda) {
  Doubles y = x;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t r = i / s.width;
    if (r % s.time != 0) y[i] += lambda / (1 + std::exp(-g[r])) * x[i - s.width];
  }
  return y;
}

TEST_P(SmearTest, ForwardIsTheTwin) {
  const float lambda = 0.5f;
  TestArray x = Random(kSmearSize, 1), g = Random(kSmearRows, 2), y = Empty(kSmearSize);
  SmearForward(kSmearShape, x.array(), g.array(), &lambda, y.array());
  ExpectClose(y, SmearTwin(kSmearShape, x.doubles(), g.doubles(), lambda));
}

TEST_P(SmearTest, BackwardIsTheTwinsGradient) {
  const float lambda = 0.5f;
  float dlambda = 3;
  TestArray x = Random(kSmearSize, 1), g = Random(kSmearRows, 2), dy = Random(kSmearSize, 3);
  TestArray dx = Empty(kSmearSize), dg = Empty(kSmearRows);
  SmearBackward(kSmearShape, x.array(), g.array(), &lambda, dy.array(), dx.array(), dg.array(),
                &dlambda);
  const auto loss = [&](const Doubles& at_x, const Doubles& at_g, double at_lambda) {
    return Inner(SmearTwin(kSmearShape, at_x, at_g, at_lambda), dy.doubles());
  };
  ExpectClose(dx, NumericGradient(x.doubles(), [&](const Doubles& at) {
                return loss(at, g.doubles(), lambda);
              }));
  ExpectClose(dg,
              NumericGradient(g.doubles(),
                              [&](const Doubles& at) { return loss(x.doubles(), at, lambda); }),
              1e-5);
  const double up = loss(x.doubles(), g.doubles(), lambda + 1e-5);
  EXPECT_NEAR(dlambda, 3 + (up - loss(x.doubles(), g.doubles(), lambda - 1e-5)) / 2e-5, 1e-4);
}

TEST_P(SmearTest, SameBitsAtAnyThreads) {
  const SmearShape shape{2, 200, 130};
  const float lambda = 0.7f;
  TestArray x = Random(400 * 130, 1), g = Random(400, 2), dy = Random(400 * 130, 3);
  TestArray dx = Empty(400 * 130), dg = Empty(400), sum(1, DType::kF32);
  ExpectSameAtAnyThreads([&] {
    sum.Set(0, 0);
    SmearBackward(shape, x.array(), g.array(), &lambda, dy.array(), dx.array(), dg.array(),
                  sum.f32());
    std::vector<char> bytes = sum.bytes();
    bytes.insert(bytes.end(), dx.bytes().begin(), dx.bytes().end());
    return bytes;
  });
}

}  // namespace
}  // namespace wt::tensor
