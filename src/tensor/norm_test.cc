#include "tensor/norm.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr float kEps = 1e-3f;
WT_KERNEL_TEST(NormTest);

Doubles NormTwin(int64_t rows, int64_t cols, const Doubles& x) {
  Doubles y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += x[r * cols + c] * x[r * cols + c];
    const double rms = std::sqrt(squares / static_cast<double>(cols) + kEps);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] / rms;
  }
  return y;
}

TEST_P(NormTest, ForwardIsTheTwin) {
  for (int64_t cols : {1, 7, 8, 37, 640}) {
    TestArray x = Random(3 * cols, cols), y = Empty(3 * cols);
    RmsNormForward(3, cols, kEps, x.array(), y.array());
    ExpectClose(y, NormTwin(3, cols, x.doubles()));
  }
}

TEST_P(NormTest, BackwardIsTheTwinsGradient) {
  for (int64_t cols : {3, 5, 43}) {  // one column would be all cancellation
    const int64_t n = 2 * cols;
    TestArray x = Random(n, 1), dy = Random(n, 2), addend = Random(n, 3), dx = Empty(n);
    Doubles want = NumericGradient(
        x.doubles(), [&](const Doubles& at) { return Inner(NormTwin(2, cols, at), dy.doubles()); });
    RmsNormBackward(2, cols, kEps, x.array(), dy.array(), {}, dx.array());
    ExpectClose(dx, want);
    for (int64_t i = 0; i < n; ++i) want[i] += addend[i];
    RmsNormBackward(2, cols, kEps, x.array(), dy.array(), addend.array(), addend.array());
    ExpectClose(addend, want);
  }
}

TEST_P(NormTest, SameBitsAtAnyThreads) {
  const int64_t rows = 301, cols = 129;
  TestArray x = Random(rows * cols, 4), dy = Random(rows * cols, 5), dx = Empty(rows * cols);
  ExpectSameAtAnyThreads([&] {
    RmsNormBackward(rows, cols, kEps, x.array(), dy.array(), {}, dx.array());
    return dx.bytes();
  });
}

}  // namespace
}  // namespace wt::tensor
