#include "chip/isa/testing.h"

namespace wt::chip::affine_test {
namespace {

// The documented loop: partitions, then up to four dimensions, in 64-bit integers.
std::vector<int64_t> AffineTwin(int64_t partitions, std::vector<int64_t> pattern, int64_t offset,
                                int64_t multiplier) {
  while (pattern.size() < 8) pattern.insert(pattern.begin(), {0, 1});
  std::vector<int64_t> values;
  for (int64_t c = 0; c < partitions; ++c)
    for (int64_t w = 0; w < pattern[1]; ++w)
      for (int64_t z = 0; z < pattern[3]; ++z)
        for (int64_t y = 0; y < pattern[5]; ++y)
          for (int64_t x = 0; x < pattern[7]; ++x)
            values.push_back(offset + c * multiplier + w * pattern[0] + z * pattern[2] +
                             y * pattern[4] + x * pattern[6]);
  return values;
}

Status Iota(Bench& bench, const AccessPattern& dst, const std::vector<int64_t>& pattern,
            int64_t offset, int64_t multiplier) {
  return bench.Call("iota")
      .Op("dst", dst)
      .Ints("pattern", pattern)
      .Int("offset", offset)
      .Int("channel_multiplier", multiplier)
      .Issue();
}

TEST(Iota, CountsDownAcrossPartitions) {
  Bench bench;
  Tensor* dst = bench.Sbuf("dst", 2, 4, DType::kI32);
  ExpectOk(Iota(bench, All(dst), {-1, 4}, 5, 100));
  ExpectSame(Bench::Read(dst), {5, 4, 3, 2, 105, 104, 103, 102});
}

TEST(Iota, WrapsIn32Bits) {
  Bench bench;
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kI32);
  ExpectOk(Iota(bench, All(dst), {1, 2}, INT32_MAX, 0));
  EXPECT_EQ(ReadBits(All(dst)), (std::vector<uint32_t>{0x7fffffff, 0x80000000}));
}

TEST(Iota, NarrowTypesSaturateAndRound) {
  Bench bench;
  Tensor* bytes = bench.Sbuf("bytes", 1, 3, DType::kU8);
  ExpectOk(Iota(bench, All(bytes), {200, 3}, -100, 0));
  ExpectSame(Bench::Read(bytes), {0, 100, 255});
  Tensor* half = bench.Sbuf("half", 1, 2, DType::kBF16);
  ExpectOk(Iota(bench, All(half), {1, 2}, 256, 0));
  ExpectSame(Bench::Read(half), {256, 256});  // 257 is a tie: to even
}

TEST(Iota, RandomPatternsAgainstTheLoop) {
  Philox random(1, 1);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128));
    std::vector<int64_t> pattern;
    int64_t elements = 1;
    for (uint64_t d = 0; d <= random.NextBelow(4); ++d) {
      pattern.push_back(int64_t(random.NextBelow(21)) - 10);
      pattern.push_back(1 + int64_t(random.NextBelow(5)));
      elements *= pattern.back();
    }
    const int64_t offset = int64_t(random.NextBelow(2001)) - 1000;
    const int64_t multiplier = int64_t(random.NextBelow(41)) - 20;
    const DType dtype = Pick(random, {DType::kI32, DType::kF32, DType::kI16, DType::kBF16});
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, elements, dtype);
    ExpectOk(Iota(bench, dst, pattern, offset, multiplier));
    const std::vector<int64_t> twin = AffineTwin(p, pattern, offset, multiplier);
    ExpectSame(Bench::Read(dst), AsStored(dtype, {twin.begin(), twin.end()}));
  }
}

TEST(Iota, RefusesAnotherSizeAndPsum) {
  Bench bench;
  Tensor* dst = bench.Sbuf("dst", 2, 4, DType::kI32);
  ExpectRefused(Iota(bench, All(dst), {1, 3}, 0, 0), ErrorClass::kShape, "3 values");
  ExpectRefused(Iota(bench, All(dst), {1, 1, 1, 1, 1, 1, 1, 1, 1, 4}, 0, 0), ErrorClass::kArgument,
                "four pairs");
  Tensor* psum = bench.Psum("psum", 2, 4, DType::kI32);
  ExpectRefused(Iota(bench, All(psum), {1, 4}, 0, 0), ErrorClass::kMemory, "psum");
}

Status AffineSelect(Bench& bench, const AccessPattern& dst, const AccessPattern& on_true,
                    const std::vector<int64_t>& pattern, int64_t offset, int64_t multiplier,
                    AluOp compare, double on_false) {
  return bench.Call("affine_select")
      .Op("dst", dst)
      .Op("on_true_tile", on_true)
      .Ints("pattern", pattern)
      .Int("offset", offset)
      .Int("channel_multiplier", multiplier)
      .Name("cmp_op", compare)
      .Float("on_false_value", on_false)
      .Issue();
}

TEST(AffineSelect, CausalMask) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 3, 3, DType::kF32, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  // Keep where partition - column >= 0.
  ExpectOk(AffineSelect(bench, All(x), All(x), {-1, 3}, 0, 1, AluOp::kGreaterEqual, -99));
  ExpectSame(Bench::Read(x), {1, -99, -99, 4, 5, -99, 7, 8, 9});
}

TEST(AffineSelect, DefaultComparesWithEqual) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {1, 2, 3});
  ExpectOk(bench.Call("affine_select")
               .Op("dst", All(x))
               .Op("on_true_tile", All(x))
               .Ints("pattern", {1, 3})
               .Int("channel_multiplier", 0)
               .Int("offset", -1)
               .Float("on_false_value", 0)
               .Issue());
  ExpectSame(Bench::Read(x), {0, 2, 0});
}

TEST(AffineSelect, KeepsAll32BitsOfIntegers) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kI32);
  WriteBits(All(x), {0x7ffffff1, 0x7ffffff1});
  ExpectOk(AffineSelect(bench, All(x), All(x), {1, 2}, 0, 0, AluOp::kEqual, -2.5));
  EXPECT_EQ(ReadBits(All(x)), (std::vector<uint32_t>{0x7ffffff1, uint32_t(-2)}));
}

bool Holds(AluOp op, int64_t v) {
  switch (op) {
    case AluOp::kEqual:
      return v == 0;
    case AluOp::kNotEqual:
      return v != 0;
    case AluOp::kLess:
      return v < 0;
    case AluOp::kLessEqual:
      return v <= 0;
    case AluOp::kGreater:
      return v > 0;
    default:
      return v >= 0;
  }
}

TEST(AffineSelect, RandomAgainstTheLoop) {
  Philox random(2, 1);
  const std::vector<AluOp> ops = {AluOp::kEqual,     AluOp::kNotEqual, AluOp::kLess,
                                  AluOp::kLessEqual, AluOp::kGreater,  AluOp::kGreaterEqual};
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128));
    const int64_t a = 1 + int64_t(random.NextBelow(9)), b = 1 + int64_t(random.NextBelow(9));
    const std::vector<int64_t> pattern = {int64_t(random.NextBelow(9)) - 4, a,
                                          int64_t(random.NextBelow(9)) - 4, b};
    const int64_t offset = int64_t(random.NextBelow(41)) - 20;
    const AluOp op = ops[random.NextBelow(ops.size())];
    const DType from = Pick(random, {DType::kF32, DType::kBF16, DType::kI32, DType::kI8});
    const DType to = Pick(random, {DType::kF32, DType::kBF16, DType::kI32});
    const AccessPattern x = RandomOperand(bench, random, Memory::kSbuf, p, a * b, from,
                                          RandomFloats(random, p * a * b, -100, 100));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, a * b, to);
    ExpectOk(AffineSelect(bench, dst, x, pattern, offset, 1, op, -7.25));
    std::vector<float> want = Bench::Read(x);
    const std::vector<int64_t> affine = AffineTwin(p, pattern, offset, 1);
    for (size_t i = 0; i < want.size(); ++i) {
      if (!Holds(op, affine[i])) want[i] = -7.25;
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
  }
}

TEST(AffineSelect, RefusesArithmeticAsComparison) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {1, 2, 3});
  ExpectRefused(AffineSelect(bench, All(x), All(x), {1, 3}, 0, 0, AluOp::kAdd, 0),
                ErrorClass::kArgument, "cmp_op is add");
}

}  // namespace
}  // namespace wt::chip::affine_test
