#include "tensor/rope.h"

#include <thread>

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

WT_KERNEL_TEST(RopeTest);

Doubles RopeTwin(const RopeShape& s, const Doubles& x) {
  Doubles y(x.size());
  const int64_t half = s.head_dim / 2;
  for (int64_t r = 0; r < s.batch * s.time * s.heads; ++r) {
    const double position = s.first_position + r / s.heads % s.time;
    const double* in = &x[r * s.head_dim];
    double* out = &y[r * s.head_dim];
    double squares = 0;
    for (int64_t i = 0; i < half; ++i) {
      const double angle = position * std::pow(s.base, -2.0 * i / s.head_dim);
      out[i] = in[i] * std::cos(angle) + in[half + i] * std::sin(angle);
      out[half + i] = -in[i] * std::sin(angle) + in[half + i] * std::cos(angle);
      squares += out[i] * out[i] + out[half + i] * out[half + i];
    }
    const double rms = s.norm ? std::sqrt(squares / s.head_dim + s.eps) : 1;
    for (int64_t i = 0; i < s.head_dim; ++i) out[i] *= s.gain / rms;
  }
  return y;
}

std::vector<RopeShape> RopeShapes() {
  return {{2, 3, 2, 10, 100.0, 0, true, 1e-5f, 1.25f},
          {1, 4, 1, 32, 10000.0, 7, false, 1e-5f, 0.5f},
          {1, 2, 3, 2, 10000.0, 100, true, 1e-2f, 1.0f}};
}
int64_t Size(const RopeShape& s) { return s.batch * s.time * s.heads * s.head_dim; }

TEST_P(RopeTest, ForwardIsTheTwin) {
  for (const RopeShape& shape : RopeShapes()) {
    TestArray x = Random(Size(shape), 1), y = Empty(Size(shape));
    RopeNormForward(shape, x.array(), y.array());
    ExpectClose(y, RopeTwin(shape, x.doubles()));
  }
}

TEST_P(RopeTest, BackwardIsTheTwinsGradient) {
  for (const RopeShape& shape : RopeShapes()) {
    TestArray x = Random(Size(shape), 1), dy = Random(Size(shape), 2);
    const Doubles want = NumericGradient(
        x.doubles(), [&](const Doubles& at) { return Inner(RopeTwin(shape, at), dy.doubles()); });
    RopeNormBackward(shape, x.array(), dy.array(), dy.array());
    ExpectClose(dy, want);
  }
}

TEST_P(RopeTest, DecodingOnePositionIsARowOfTheWhole) {
  const RopeShape whole{1, 9, 2, 16, 10000.0, 0, true, 1e-6f, 1.2f};
  RopeShape one = whole;
  one.time = 1;
  one.first_position = 8;
  TestArray x = Random(Size(whole), 3), y = Empty(Size(whole)), last = Empty(Size(one));
  TestArray x_last = Empty(Size(one));
  for (int64_t i = 0; i < last.size(); ++i) x_last.Set(i, x[8 * last.size() + i]);
  RopeNormForward(whole, x.array(), y.array());
  RopeNormForward(one, x_last.array(), last.array());
  for (int64_t i = 0; i < last.size(); ++i) EXPECT_EQ(last[i], y[8 * last.size() + i]);
}

TEST_P(RopeTest, SameBitsAtAnyThreadsAndFromManyCallers) {
  const RopeShape shape{2, 130, 2, 64, 777.0, 0, true, 1e-6f, 1.2f};
  TestArray x = Random(Size(shape), 4), want = Empty(Size(shape));
  std::vector<TestArray> results(4, want);
  std::vector<std::thread> callers;
  for (TestArray& y : results) {
    callers.emplace_back([&] { RopeNormForward(shape, x.array(), y.array()); });
  }
  for (std::thread& caller : callers) caller.join();
  ExpectSameAtAnyThreads([&] {
    RopeNormForward(shape, x.array(), want.array());
    return want.bytes();
  });
  for (const TestArray& y : results) EXPECT_EQ(y.bytes(), want.bytes());
}

}  // namespace
}  // namespace wt::tensor
