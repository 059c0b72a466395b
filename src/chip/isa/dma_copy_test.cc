#include "chip/isa/testing.h"

namespace wt::chip::dma_copy_test {
namespace {

Call CopyByDma(Bench& bench, const AccessPattern& dst, const AccessPattern& src) {
  Call call = bench.Call("dma_copy");
  call.Op("dst", dst).Op("src", src);
  return call;
}

TEST(DmaCopy, ReshapesOnTheWay) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 12, DType::kF32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Tensor* tile = bench.Sbuf("tile", 4, 3, DType::kF32);
  ExpectOk(CopyByDma(bench, All(tile), Matrix(hbm, 2, 6)).Issue());
  ExpectSame(Bench::Read(tile), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  AccessPattern transposed = Matrix(hbm, 4, 3);
  transposed.dims[0].step = 1;
  transposed.dims[1].step = 4;
  ExpectOk(CopyByDma(bench, All(tile), transposed).Issue());
  ExpectSame(Bench::Read(tile), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
}

TEST(DmaCopy, BroadcastsARowToPartitions) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 3, DType::kBF16, {1, 2, 3});
  Tensor* tile = bench.Sbuf("tile", 3, 3, DType::kBF16);
  AccessPattern row = Matrix(hbm, 3, 3);
  row.dims[0].step = 0;
  ExpectOk(CopyByDma(bench, All(tile), row).Issue());
  ExpectSame(Bench::Read(tile), {1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST(DmaCopy, RandomLayoutsAndTypes) {
  const std::vector<DType> dtypes = {DType::kF32, DType::kBF16, DType::kF8E4M3, DType::kI32,
                                     DType::kU8};
  Philox random(41, 0);
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(60));
    const DType from = Pick(random, dtypes), to = random.NextBelow(2) ? from : Pick(random, dtypes);
    const std::vector<float> values = AsStored(from, RandomFloats(random, p * n, -90, 90));
    const bool load = random.NextBelow(2);
    const AccessPattern chip = RandomOperand(bench, random, Memory::kSbuf, p, n, load ? to : from,
                                             load ? std::vector<float>{} : values);
    Tensor* hbm = bench.Hbm("hbm", p * n * 2 + 3, load ? from : to);
    AccessPattern outside = Matrix(hbm, p, n);
    outside.offset = 3;
    outside.dims[1].step = 2;
    outside.dims[0].step = 2 * n;
    if (load) {
      const Walk walk{outside.Merged(), {}, false};
      StoreRows(walk, 0, p, values.data());
      MarkWritten(outside);
    }
    ExpectOk(CopyByDma(bench, load ? chip : outside, load ? outside : chip).Issue());
    ExpectSame(Bench::Read(load ? chip : outside), AsStored(to, values));
  }
}

TEST(DmaCopy, SixtyFourBitIntegersMoveAsBits) {
  Bench bench;
  Tensor* a = bench.Hbm("a", 2, DType::kI64);
  Tensor* b = bench.Hbm("b", 2, DType::kI64);
  const int64_t values[2] = {int64_t{1} << 60, -7};
  StoreInts(DType::kI64, a->data, 1, 2, values);
  MarkWritten(All(a));
  ExpectOk(CopyByDma(bench, All(b), All(a)).Issue());
  int64_t got[2];
  LoadInts(DType::kI64, b->data, 1, 2, got);
  EXPECT_EQ(got[0], values[0]);
  EXPECT_EQ(got[1], values[1]);
}

TEST(DmaCopy, ScalarOffsetFromARegisterOrATile) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 12, DType::kF32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Tensor* tile = bench.Sbuf("tile", 2, 3, DType::kF32);
  Tensor* at = bench.Sbuf("at", 1, 1, DType::kU32, {2});
  ExpectOk(CopyByDma(bench, All(tile), Matrix(hbm, 2, 3)).Offset("src", All(at), 3, false).Issue());
  ExpectSame(Bench::Read(tile), {6, 7, 8, 9, 10, 11});
  bench.Fill(at, {3});
  ExpectRefused(
      CopyByDma(bench, All(tile), Matrix(hbm, 2, 3)).Offset("src", All(at), 3, false).Issue(),
      ErrorClass::kOutOfBounds, "9 to 14 of 12");
  ExpectOk(CopyByDma(bench, All(tile), Matrix(hbm, 2, 3))
               .Offset("src", All(at), 3, false)
               .Name("oob_mode", OobMode::kSkip)
               .Issue());
  ExpectSame(Bench::Read(tile), {6, 7, 8, 9, 10, 11});
}

TEST(DmaCopy, ScattersRows) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 8, DType::kF32, std::vector<float>(8, 0));
  Tensor* tile = bench.Sbuf("tile", 3, 2, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* rows = bench.Sbuf("rows", 3, 1, DType::kI32, {3, 0, 7});
  const auto scatter = [&](OobMode mode) {
    return CopyByDma(bench, Matrix(hbm, 3, 2), All(tile))
        .Offset("dst", All(rows), 2, true)
        .Name("oob_mode", mode)
        .Issue();
  };
  ExpectRefused(scatter(OobMode::kError), ErrorClass::kOutOfBounds, "offset 7 in row 2");
  ExpectSame(Bench::Read(hbm), std::vector<float>(8, 0));  // nothing was written
  ExpectOk(scatter(OobMode::kSkip));
  ExpectSame(Bench::Read(hbm), {3, 4, 0, 0, 0, 0, 1, 2});
}

TEST(DmaCopy, GatheringReadsOnlyTheRowsNamed) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 8, DType::kF32);
  AccessPattern second = Matrix(hbm, 1, 2);
  second.offset = 2;
  Tensor* tile = bench.Sbuf("tile", 1, 2, DType::kF32, {5, 6});
  ExpectOk(CopyByDma(bench, second, All(tile)).Issue());
  Tensor* row = bench.Sbuf("row", 1, 1, DType::kI32, {1});
  const auto gather = [&] {
    return CopyByDma(bench, All(tile), Matrix(hbm, 1, 2)).Offset("src", All(row), 2, true).Issue();
  };
  ExpectOk(gather());
  bench.Fill(row, {2});
  ExpectRefused(gather(), ErrorClass::kUninitialized, "element 4");
}

TEST(DmaCopy, Refusals) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 8, DType::kF32, std::vector<float>(8, 0));
  Tensor* tile = bench.Sbuf("tile", 2, 4, DType::kBF16);
  Tensor* psum = bench.Psum("psum", 2, 4, DType::kF32);
  ExpectRefused(CopyByDma(bench, All(psum), All(hbm)).Issue(), ErrorClass::kMemory,
                "dst is in psum");
  ExpectRefused(CopyByDma(bench, Slice(tile, 0, 2, 0, 3), All(hbm)).Issue(), ErrorClass::kShape,
                "8 elements, dst 6");
  ExpectRefused(CopyByDma(bench, All(tile), All(hbm)).Name("dge_mode", DgeMode::kHwdge).Issue(),
                ErrorClass::kDtype, "hwdge moves bits");
  ExpectRefused(CopyByDma(bench, All(tile), All(hbm)).Int("priority", 1).Issue(),
                ErrorClass::kGeneration, "priority");
  ExpectRefused(CopyByDma(bench, All(tile), All(hbm)).Name("engine", Engine::kScalar).Issue(),
                ErrorClass::kEngine, "hwdge");
  ExpectRefused(CopyByDma(bench, All(tile), All(hbm)).Offset("src", All(tile), 1, false).Issue(),
                ErrorClass::kDtype, "expected integers");
}

}  // namespace
}  // namespace wt::chip::dma_copy_test
