#include "chip/alu.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace wt::chip {
namespace {

std::vector<float> Numbers(uint64_t stream, int64_t n) {
  Philox random(11, stream);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) {
    const uint64_t kind = random.NextBelow(20);
    value = kind == 0 ? NAN : kind == 1 ? INFINITY : kind < 6 ? 0.0f : random.NextNormal();
  }
  return values;
}

bool SameBits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// What each operation means, on the plainest numbers.
TEST(Alu, Meanings) {
  EXPECT_EQ(Apply(AluOp::kSubtract, 5, 3), 2);
  EXPECT_EQ(Apply(AluOp::kDivide, 1, 4), 0.25f);
  EXPECT_EQ(Apply(AluOp::kPower, 2, 10), 1024);
  EXPECT_EQ(Apply(AluOp::kMod, -7, 3), 2);
  EXPECT_EQ(Apply(AluOp::kFmod, -7, 3), -1);
  EXPECT_EQ(Apply(AluOp::kAbsMax, -7, 3), -7);  // with its sign
  EXPECT_EQ(Apply(AluOp::kAbsMin, -7, 3), 3);
  EXPECT_EQ(Apply(AluOp::kGreaterEqual, 3, 3), 1);
  EXPECT_EQ(Apply(AluOp::kLogicalXor, 2, 3), 0);
  EXPECT_EQ(Apply(AluOp::kRsqrt, 16, 0), 0.25f);
  EXPECT_EQ(Apply(AluOp::kRelu, -2, 0), 0);
  EXPECT_TRUE(std::isnan(Apply(AluOp::kMaximum, NAN, 1)));
  EXPECT_TRUE(std::isnan(Apply(AluOp::kMaximum, 1, NAN)));
}

TEST(Alu, RowsAreTheOperationOnEachElement) {
  for (int i = 0; i < int(AluOp::kCount); ++i) {
    const AluOp op = AluOp(i);
    if (IsBitwise(op)) continue;
    for (int64_t n : {1, 15, 64, 101}) {
      const std::vector<float> a = Numbers(1, n), b = Numbers(2, n);
      std::vector<float> rows(a.size()), scalar(a.size()), reversed(a.size()), in_place = a;
      AluRows(op, a.data(), b.data(), rows.data(), n);
      AluScalar(op, a.data(), b[0], false, scalar.data(), n);
      AluScalar(op, a.data(), b[0], true, reversed.data(), n);
      AluRows(op, in_place.data(), b.data(), in_place.data(), n);
      for (size_t k = 0; k < a.size(); ++k) {
        ASSERT_TRUE(SameBits(rows[k], Apply(op, a[k], b[k]))) << AluOpName(op);
        ASSERT_TRUE(SameBits(in_place[k], rows[k])) << AluOpName(op);
        ASSERT_TRUE(SameBits(scalar[k], Apply(op, a[k], b[0]))) << AluOpName(op);
        ASSERT_TRUE(SameBits(reversed[k], Apply(op, b[0], a[k]))) << AluOpName(op);
      }
    }
  }
}

TEST(Alu, ReductionsAgreeWithDouble) {
  Philox random(12, 0);
  for (int64_t n : {1, 2, 63, 64, 65, 127, 128, 1000}) {
    std::vector<float> a(static_cast<size_t>(2 * n));
    for (float& value : a) value = 0.5f + random.NextUniform();
    const double sum = std::accumulate(a.begin(), a.begin() + n, 0.0);
    EXPECT_NEAR(ReduceRow(AluOp::kAdd, a.data(), n), sum, 1e-6 * sum);
    EXPECT_NEAR(ReduceRow(AluOp::kSubtract, a.data(), n), 2.0 * a[0] - sum, 1e-6 * sum);
    EXPECT_EQ(ReduceRow(AluOp::kMaximum, a.data(), n), *std::max_element(a.begin(), a.begin() + n));
    EXPECT_EQ(ReduceRow(AluOp::kMinimum, a.data(), n), *std::min_element(a.begin(), a.begin() + n));
    float groups[2];
    ReduceGroups(AluOp::kAdd, a.data(), n, 2, groups);
    EXPECT_EQ(groups[0], ReduceRow(AluOp::kAdd, a.data(), n));
    EXPECT_EQ(groups[1], ReduceRow(AluOp::kAdd, a.data() + n, n));
  }
  const float mixed[] = {3, 0, -2};
  EXPECT_EQ(ReduceRow(AluOp::kLogicalAnd, mixed, 3), 0);
  EXPECT_EQ(ReduceRow(AluOp::kLogicalOr, mixed, 3), 1);
  EXPECT_EQ(ReduceRow(AluOp::kLogicalXor, mixed, 3), 0);
  EXPECT_EQ(ReduceRow(AluOp::kLogicalOr, mixed, 1), 1);
  EXPECT_EQ(ReduceRow(AluOp::kMultiply, mixed, 0), 1);
}

TEST(Alu, ScansChainThroughEachRow) {
  Philox random(13, 0);
  const AluOp ops[] = {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum, AluOp::kSubtract,
                       AluOp::kDivide};
  for (int trial = 0; trial < 50; ++trial) {
    const int64_t rows = random.NextBelow(3) ? kScanRows : 1 + int64_t(random.NextBelow(7)), n = 33;
    const ScanOps scan = {ops[random.NextBelow(5)], ops[random.NextBelow(5)],
                          random.NextBelow(4) == 0, random.NextBelow(4) == 0};
    std::vector<float> a(size_t(rows * n)), b(a.size()), state(size_t(rows), 0.5f);
    for (float& value : a) value = random.NextUniform() + 0.1f;
    for (float& value : b) value = random.NextUniform() + 0.1f;
    std::vector<float> want(a.size());
    for (int64_t r = 0; r < rows; ++r) {
      float x = 0.5f;
      for (int64_t i = r * n; i < (r + 1) * n; ++i) {
        const float t = scan.reverse0 ? Apply(scan.op0, x, a[i]) : Apply(scan.op0, a[i], x);
        want[i] = x = scan.reverse1 ? Apply(scan.op1, b[i], t) : Apply(scan.op1, t, b[i]);
      }
    }
    ScanRows(scan, a.data(), b.data(), rows, n, state.data(), a.data());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(SameBits(a[i], want[i]));
    EXPECT_TRUE(SameBits(state.back(), want.back()));
  }
}

TEST(Alu, BitsStayInsideTheirWidth) {
  EXPECT_EQ(ApplyBits(AluOp::kInvert, 0x0f, 0, 8), 0xf0u);
  EXPECT_EQ(ApplyBits(AluOp::kLeftShift, 0xff, 4, 8), 0xf0u);
  EXPECT_EQ(ApplyBits(AluOp::kRightShift, 0x80000000u, 31, 32), 1u);
  EXPECT_EQ(ApplyBits(AluOp::kRightShift, 1, 32, 32), 0u);
  EXPECT_EQ(ApplyBits(AluOp::kArithShiftRight, 0x80, 2, 8), 0xe0u);
  EXPECT_EQ(ApplyBits(AluOp::kBitwiseXor, 0xff00, 0x0ff0, 16), 0xf0f0u);
}

TEST(Alu, IntegersAreExactAndWrap) {
  const int32_t a[] = {16777217, 2147483647, -5}, b[] = {1, 1, 2};
  int32_t out[3];
  AluInts(AluOp::kAdd, a, b, true, out, 3);
  EXPECT_EQ(out[0], 16777218);
  EXPECT_EQ(out[1], -2147483647 - 1);
  AluInts(AluOp::kLess, a, b, false, out, 3);  // unsigned: -5 is large
  EXPECT_EQ(out[2], 0);
}

}  // namespace
}  // namespace wt::chip
