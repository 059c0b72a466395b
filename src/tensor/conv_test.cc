#include "tensor/conv.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

WT_KERNEL_TEST(ConvTest);

Doubles ConvTwin(const ConvShape& s, const Doubles& x, const Doubles& w) {
  Doubles y(x.size());
  for (int64_t r = 0; r < s.batch * s.time; ++r) {
    for (int64_t k = 0; k < s.taps && k <= r % s.time; ++k) {
      for (int64_t d = 0; d < s.width; ++d) {
        y[r * s.width + d] += w[k * s.width + d] * x[(r - k) * s.width + d];
      }
    }
  }
  return y;
}

std::vector<ConvShape> ConvShapes() { return {{2, 5, 13, 3}, {1, 2, 8, 4}, {3, 1, 3, 1}}; }

TEST_P(ConvTest, ForwardAndBackwardAreTheTwins) {
  for (const ConvShape& shape : ConvShapes()) {
    const int64_t n = shape.batch * shape.time * shape.width, taps = shape.taps * shape.width;
    TestArray x = Random(n, 1), dy = Random(n, 2), y = Empty(n), dx = Empty(n);
    TestArray w = TestArray::Random(taps, DType::kF32, 3), dw(taps, DType::kF32);
    ConvForward(shape, x.array(), w.f32(), y.array());
    ExpectClose(y, ConvTwin(shape, x.doubles(), w.doubles()));
    for (int64_t i = 0; i < taps; ++i) dw.f32()[i] = 1;
    ConvBackward(shape, x.array(), w.f32(), dy.array(), dx.array(), dw.f32());
    ExpectClose(dx, NumericGradient(x.doubles(), [&](const Doubles& at) {
                  return Inner(ConvTwin(shape, at, w.doubles()), dy.doubles());
                }));
    Doubles want = NumericGradient(w.doubles(), [&](const Doubles& at) {
      return Inner(ConvTwin(shape, x.doubles(), at), dy.doubles());
    });
    for (double& v : want) v += 1;
    ExpectClose(dw, want);
  }
}

TEST_P(ConvTest, SameBitsAtAnyThreads) {
  const ConvShape shape{3, 70, 101, 4};
  const int64_t n = shape.batch * shape.time * shape.width, taps = shape.taps * shape.width;
  TestArray x = Random(n, 1), dy = Random(n, 2), dx = Empty(n);
  TestArray w = TestArray::Random(taps, DType::kF32, 3);
  ExpectSameAtAnyThreads([&] {
    TestArray dw(taps, DType::kF32);
    ConvBackward(shape, x.array(), w.f32(), dy.array(), dx.array(), dw.f32());
    std::vector<char> bytes = dw.bytes();
    bytes.insert(bytes.end(), dx.bytes().begin(), dx.bytes().end());
    return bytes;
  });
}

}  // namespace
}  // namespace wt::tensor
