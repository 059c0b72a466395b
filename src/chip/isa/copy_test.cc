#include "chip/isa/testing.h"

namespace wt::chip::copy_test {
namespace {

const std::vector<DType> kDtypes = {DType::kF32,    DType::kBF16, DType::kF16, DType::kF8E4M3,
                                    DType::kF8E5M2, DType::kI32,  DType::kI16, DType::kU8};

Memory OnChip(Philox& random) { return random.NextBelow(2) ? Memory::kSbuf : Memory::kPsum; }

Status Copy(Bench& bench, const AccessPattern& dst, const AccessPattern& src,
            Engine engine = Engine::kUnknown) {
  return bench.Call("tensor_copy").Op("dst", dst).Op("src", src).Name("engine", engine).Issue();
}

TEST(TensorCopy, KeepsBitsOfOneType) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 3, DType::kF32);
  Tensor* dst = bench.Sbuf("dst", 1, 3, DType::kF32);
  const std::vector<uint32_t> bits = {0x7fc12345u, 0x80000000u, 0x00000001u};
  WriteBits(All(src), bits);
  ExpectOk(Copy(bench, All(dst), All(src)));
  EXPECT_EQ(ReadBits(All(dst)), bits);
}

TEST(TensorCopy, ConvertsThroughFp32) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 4, DType::kF32, {1.5f, 2.5f, -300, 1e9f});
  Tensor* bytes = bench.Sbuf("bytes", 1, 4, DType::kI8);
  ExpectOk(Copy(bench, All(bytes), All(src)));
  ExpectSame(Bench::Read(bytes), {2, 2, -128, 127});
  Tensor* wide = bench.Sbuf("wide", 1, 1, DType::kI32);
  const int64_t odd = 16777217;  // one bit too long for fp32
  StoreInts(DType::kI32, wide->data, 1, 1, &odd);
  MarkWritten(All(wide));
  Tensor* same = bench.Sbuf("same", 1, 1, DType::kI32);
  ExpectOk(Copy(bench, All(same), All(wide)));
  EXPECT_EQ(ReadBits(All(same))[0], 16777217u);
  Tensor* other = bench.Sbuf("other", 1, 1, DType::kU32);
  ExpectOk(Copy(bench, All(other), All(wide)));
  EXPECT_EQ(ReadBits(All(other))[0], 16777216u);
}

TEST(TensorCopy, RandomLayoutsAndTypes) {
  Philox random(31, 0);
  for (int trial = 0; trial < 3 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(90));
    const DType from = Pick(random, kDtypes), to = Pick(random, kDtypes);
    const std::vector<float> values = AsStored(from, RandomFloats(random, p * n, -100, 100));
    const AccessPattern src = RandomOperand(bench, random, OnChip(random), p, n, from, values);
    const AccessPattern dst = RandomOperand(bench, random, OnChip(random), p, n, to);
    ExpectOk(Copy(bench, dst, src));
    ExpectSame(Bench::Read(dst), AsStored(to, values));
  }
}

TEST(TensorCopy, OverlappingTilesReadBeforeTheyWrite) {
  Philox random(32, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16});
    const std::vector<float> values = RandomWhole(random, 128 * 40, 0, 200);
    Tensor* x = bench.Sbuf("x", 128, 40, dtype, values);
    const auto place = [&] {
      return Slice(x, int(random.NextBelow(4)) * 32, 32, int64_t(random.NextBelow(10)), 10,
                   1 + int64_t(random.NextBelow(3)));
    };
    const AccessPattern src = place(), dst = place();
    const std::vector<float> want = Bench::Read(src);
    ExpectOk(Copy(bench, dst, src));
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(TensorCopy, Refusals) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 64, 8, DType::kF32, std::vector<float>(512, 1));
  Tensor* b = bench.Sbuf("b", 64, 9, DType::kF32);
  Tensor* psum = bench.Psum("psum", 64, 8, DType::kF32);
  Tensor* hbm = bench.Hbm("hbm", 64 * 8, DType::kF32);
  ExpectRefused(Copy(bench, All(b), All(a)), ErrorClass::kShape, "64 partitions of 9 elements");
  ExpectRefused(Copy(bench, Matrix(hbm, 64, 8), All(a)), ErrorClass::kMemory, "dst is in hbm");
  ExpectRefused(Copy(bench, All(psum), All(a), Engine::kGpSimd), ErrorClass::kMemory, "PSUM");
  ExpectRefused(Copy(bench, All(psum), All(a), Engine::kTensor), ErrorClass::kEngine, "tensor");
  ExpectRefused(Copy(bench, Slice(a, 0, 64, 4, 8), All(a)), ErrorClass::kOutOfBounds,
                "4 to 11 of 8");
  ExpectRefused(bench.Call("tensor_copy").Op("dst", All(a)).Issue(), ErrorClass::kArgument,
                "src is missing");
  Bench old(Generation::kGen2);
  Tensor* c = old.Sbuf("c", 4, 4, DType::kF32, std::vector<float>(16, 1));
  ExpectRefused(Copy(old, All(c), All(c), Engine::kScalar), ErrorClass::kEngine, "vector, gpsimd");
}

TEST(Memset, FillsEveryType) {
  for (DType dtype : kDtypes) {
    Bench bench;
    Tensor* x = bench.Sbuf("x", 3, 5, dtype);
    ExpectOk(bench.Call("memset").Op("dst", All(x)).Int("value", 7).Issue());
    ExpectSame(Bench::Read(x), std::vector<float>(15, 7));
  }
}

TEST(Memset, LeavesTheGapsAlone) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 6, DType::kF32, {1, 2, 3, 4, 5, 6});
  ExpectOk(bench.Call("memset").Op("dst", Slice(x, 0, 1, 1, 2, 3)).Float("value", 0.5).Issue());
  ExpectSame(Bench::Read(x), {1, 0.5, 3, 4, 0.5, 6});
}

TEST(Memset, Refusals) {
  Bench bench(Generation::kGen4);
  Tensor* ints = bench.Sbuf("ints", 1, 4, DType::kI32);
  Tensor* packed = bench.Sbuf("packed", 1, 4, DType::kF8E4M3FNx4);
  const auto fill = [&](Tensor* x, double value) {
    return bench.Call("memset").Op("dst", All(x)).Float("value", value).Issue();
  };
  ExpectRefused(fill(ints, 0.5), ErrorClass::kDtype, "value 0.5");
  ExpectRefused(fill(packed, 1), ErrorClass::kDtype, "takes only 0");
  ExpectOk(fill(packed, 0));
}

Status Predicated(Bench& bench, const AccessPattern& dst, const AccessPattern& src,
                  const AccessPattern& predicate, bool reverse) {
  return bench.Call("tensor_copy_predicated")
      .Op("dst", dst)
      .Op("src", src)
      .Op("predicate", predicate)
      .Bool("reverse_pred", reverse)
      .Issue();
}

TEST(TensorCopyPredicated, RandomLayouts) {
  Philox random(33, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(50));
    const DType dtype = Pick(random, kDtypes);
    const std::vector<float> old = RandomWhole(random, p * n, 0, 3),
                             fresh = RandomWhole(random, p * n, 4, 7);
    const std::vector<float> mask = RandomWhole(random, p * n, 0, 2);
    const AccessPattern dst = RandomOperand(bench, random, OnChip(random), p, n, dtype, old);
    const AccessPattern src = RandomOperand(bench, random, Memory::kSbuf, p, n, dtype, fresh);
    const AccessPattern predicate =
        RandomOperand(bench, random, OnChip(random), p, n,
                      Pick(random, {DType::kU8, DType::kU16, DType::kU32}), mask);
    const bool reverse = random.NextBelow(2);
    ExpectOk(Predicated(bench, dst, src, predicate, reverse));
    std::vector<float> want = old;
    for (size_t i = 0; i < want.size(); ++i)
      if ((mask[i] != 0) != reverse) want[i] = fresh[i];
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(TensorCopyPredicated, OnlyWhatIsCopiedCountsAsWritten) {
  Bench bench;
  Tensor* dst = bench.Sbuf("dst", 2, 2, DType::kF32);
  Tensor* mask = bench.Sbuf("mask", 2, 2, DType::kU8, {1, 0, 1, 1});
  ExpectOk(bench.Call("tensor_copy_predicated")
               .Op("dst", All(dst))
               .Float("src", 4)
               .Op("predicate", All(mask))
               .Issue());
  EXPECT_FALSE(FirstUnwritten(Slice(dst, 0, 2, 0, 1)));
  EXPECT_FALSE(FirstUnwritten(Slice(dst, 1, 1, 1, 1)));
  EXPECT_EQ(FirstUnwritten(All(dst))->byte, 4);
}

TEST(TensorCopyPredicated, Refusals) {
  Bench bench;
  Tensor* x = bench.Psum("x", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* half = bench.Sbuf("half", 2, 2, DType::kBF16, {1, 2, 3, 4});
  Tensor* mask = bench.Psum("mask", 2, 2, DType::kU8, {1, 0, 1, 1});
  ExpectRefused(Predicated(bench, All(x), All(half), All(mask), false), ErrorClass::kDtype, "bf16");
  ExpectRefused(Predicated(bench, All(x), All(x), All(mask), false), ErrorClass::kMemory,
                "both in psum");
  ExpectRefused(Predicated(bench, All(half), All(half), All(half), false), ErrorClass::kDtype,
                "predicate is bf16");
}

}  // namespace
}  // namespace wt::chip::copy_test
