#include "tensor/pointwise.h"

#include <limits>

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

WT_KERNEL_TEST(PointwiseTest);

TEST_P(PointwiseTest, CastRoundsAsBF16Does) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  // Ties to even both ways, overflow to infinity, denormals, signed zero, NaN with its payload on.
  const std::vector<float> special = {1.00390625f, 1.01171875f, 3.4e38f, -3.4e38f, 1e-40f,  -0.0f,
                                      inf,         -inf,        nan,     -nan,     65535.0f};
  TestArray x = TestArray::Random(333, DType::kF32, 1), y(333, DType::kBF16);
  for (size_t i = 0; i < special.size(); ++i) x.Set(20 + i, special[i]);
  Cast(333, x.array(), y.array());
  for (int64_t i = 0; i < 333; ++i) {
    uint16_t bits;
    std::memcpy(&bits, &y.bytes()[i * 2], 2);
    EXPECT_EQ(bits, BF16(static_cast<float>(x[i])).bits) << x[i];
  }
  Cast(333, y.array(), x.array());
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(x[i], y[i]);
}

TEST_P(PointwiseTest, AddScaleAndLinearCombineMixTypes) {
  const int64_t n = 77;
  for (DType other : {DType::kF32, DType::kBF16}) {
    TestArray a = Random(n, 1), b = TestArray::Random(n, other, 2), out = Empty(n);
    Doubles sum(n), scaled(n), combined(n);
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = a[i] + b[i];
      scaled[i] = 0.75 * b[i];
      combined[i] = 0.5 * a[i] - 2 * b[i];
    }
    Add(n, a.array(), b.array(), out.array());
    ExpectClose(out, sum);
    Scale(n, 0.75f, b.array(), out.array());
    ExpectClose(out, scaled);
    LinearCombine(n, 0.5f, a.array(), -2.0f, b.array(), out.array());
    ExpectClose(out, combined);
  }
}

TEST_P(PointwiseTest, ZeroFillZeroesExactlyN) {
  TestArray x = Random(40000, 3);
  const double after = x[39999];
  ZeroFill(39999, x.array());
  for (int64_t i = 0; i < 39999; ++i) ASSERT_EQ(x[i], 0) << i;
  EXPECT_EQ(x[39999], after);
}

TEST_P(PointwiseTest, MixAndItsGradients) {
  const int64_t n = 1003;
  const float r = 1.125f, z = 0.25f;
  TestArray x = Random(n, 1), x0 = Random(n, 2), dy = Random(n, 3), addend = Random(n, 4);
  TestArray y = Empty(n), dx = Empty(n);
  Doubles want_y(n), want_dx(n), want_dx0(n);
  for (int64_t i = 0; i < n; ++i) {
    want_y[i] = r * x[i] + z * x0[i];
    want_dx[i] = r * dy[i];
    want_dx0[i] = addend[i] + z * dy[i];
  }
  const double want_dr = 10 + Inner(dy.doubles(), x.doubles());
  const double want_dz = 20 + Inner(dy.doubles(), x0.doubles());
  float dr = 10, dz = 20;
  MixForward(n, &r, &z, x.array(), x0.array(), y.array());
  MixBackward(n, dy.array(), x.array(), x0.array(), &r, &z, addend.array(), dx.array(),
              addend.array(), &dr, &dz);
  ExpectClose(y, want_y);
  ExpectClose(dx, want_dx);
  ExpectClose(addend, want_dx0);
  EXPECT_NEAR(dr, want_dr, 1e-4);
  EXPECT_NEAR(dz, want_dz, 1e-4);
}

TEST_P(PointwiseTest, SumsHaveTheSameBitsAtAnyThreads) {
  TestArray x = Random(100003, 5), y = Random(100003, 6);
  EXPECT_NEAR(Dot(100003, x.array(), y.array()), Inner(x.doubles(), y.doubles()), 1e-2);
  ExpectSameAtAnyThreads([&] {
    const double sum = Dot(100003, x.array(), y.array());
    return std::vector<char>(reinterpret_cast<const char*>(&sum),
                             reinterpret_cast<const char*>(&sum) + sizeof(sum));
  });
}

}  // namespace
}  // namespace wt::tensor
