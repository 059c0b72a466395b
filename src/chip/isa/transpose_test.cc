#include "chip/isa/testing.h"

namespace wt::chip {
namespace {

std::vector<float> Transposed(const std::vector<float>& x, int64_t rows, int64_t columns) {
  std::vector<float> y;
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) y.push_back(x[size_t(i * columns + j)]);
  }
  return y;
}

Status NcTranspose(Bench& bench, const AccessPattern& dst, const AccessPattern& data,
                   Engine engine = Engine::kUnknown) {
  return bench.Call("nc_transpose").Op("dst", dst).Op("data", data).Name("engine", engine).Issue();
}

TEST(NcTranspose, RandomShapesTypesAndLayouts) {
  Philox random(91, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(128));
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16, DType::kU8, DType::kI32});
    const std::vector<float> x = RandomWhole(random, p * n, 0, 250);
    const AccessPattern dst = RandomOperand(bench, random, Memory::kPsum, n, p, dtype);
    ExpectOk(NcTranspose(bench, dst, RandomOperand(bench, random, Memory::kSbuf, p, n, dtype, x)));
    ExpectSame(Bench::Read(dst), Transposed(AsStored(dtype, x), p, n));
  }
}

TEST(NcTranspose, EnginesAndRefusals) {
  Bench bench;
  Tensor* small = bench.Sbuf("small", 32, 32, DType::kF32, std::vector<float>(1024, 1));
  Tensor* to = bench.Sbuf("to", 32, 32, DType::kF32);
  Tensor* big = bench.Sbuf("big", 64, 40, DType::kF32, std::vector<float>(2560, 1));
  Tensor* psum = bench.Psum("psum", 40, 64, DType::kF32);
  Tensor* half = bench.Psum("half", 40, 64, DType::kBF16);
  ExpectOk(NcTranspose(bench, All(to), All(small), Engine::kVector));
  ExpectRefused(NcTranspose(bench, All(to), All(small), Engine::kTensor), ErrorClass::kEngine,
                "vector");
  ExpectOk(NcTranspose(bench, All(psum), All(big)));
  ExpectRefused(NcTranspose(bench, All(psum), All(big), Engine::kVector), ErrorClass::kEngine,
                "tensor");
  ExpectRefused(NcTranspose(bench, All(half), All(big)), ErrorClass::kDtype, "expected one dtype");
  ExpectRefused(NcTranspose(bench, All(psum), All(small)), ErrorClass::kShape, "makes [32, 32]");
}

Call DmaTranspose(Bench& bench, const AccessPattern& dst, const AccessPattern& src) {
  Call call = bench.Call("dma_transpose");
  call.Op("dst", dst).Op("src", src);
  return call;
}

TEST(DmaTranspose, TwoThreeAndFourDimensions) {
  Philox random(92, 0);
  for (int rank = 2; rank <= 4; ++rank) {
    Bench bench;
    std::vector<int64_t> sizes;
    int64_t total = 1;
    for (int d = 0; d < rank; ++d) {
      sizes.push_back(1 + int64_t(random.NextBelow(7)));
      total *= sizes.back();
    }
    const std::vector<float> x = RandomWhole(random, total, 0, 200);
    Tensor* hbm = bench.Hbm("hbm", total, DType::kBF16, x);
    std::vector<int64_t> swapped = sizes;
    std::swap(swapped.front(), swapped.back());
    Tensor* tile = bench.Sbuf("tile", swapped[0], total / swapped[0], DType::kBF16);
    ExpectOk(
        DmaTranspose(bench, Pattern(tile, DType::kBF16, swapped), Pattern(hbm, DType::kBF16, sizes))
            .Issue());
    const int64_t first = sizes.front(), last = sizes.back(), middle = total / first / last;
    std::vector<float> want;
    for (int64_t k = 0; k < last; ++k)
      for (int64_t j = 0; j < middle; ++j)
        for (int64_t i = 0; i < first; ++i) want.push_back(x[size_t((i * middle + j) * last + k)]);
    ExpectSame(Bench::Read(tile), want);
  }
}

TEST(DmaTranspose, GathersByColumnsOfTheIndex) {
  Philox random(93, 0);
  for (int64_t columns : {1, 2}) {
    Bench bench;
    const int64_t rows = 128 * columns, width = 8, table_rows = 50;
    const std::vector<float> table = RandomWhole(random, table_rows * width, 0, 200);
    const std::vector<float> index = RandomWhole(random, rows, 0, int(table_rows) - 1);
    Tensor* hbm = bench.Hbm("hbm", table_rows * width, DType::kBF16, table);
    Tensor* at = bench.Sbuf("at", 128, columns, DType::kU32, index);
    Tensor* tile = bench.Sbuf("tile", width, rows, DType::kBF16);
    ExpectOk(DmaTranspose(bench, All(tile), Matrix(hbm, rows, width))
                 .Offset("src", All(at), width, true)
                 .Issue());
    std::vector<float> want;
    for (int64_t k = 0; k < width; ++k) {
      for (int64_t i = 0; i < rows; ++i) {
        const auto row = int64_t(index[size_t(i % 128 * columns + i / 128)]);
        want.push_back(table[size_t(row * width + k)]);
      }
    }
    ExpectSame(Bench::Read(tile), want);
  }
}

TEST(DmaTranspose, Refusals) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", 32 * 8, DType::kF32, std::vector<float>(256, 1));
  Tensor* tile = bench.Sbuf("tile", 8, 32, DType::kF32);
  const AccessPattern src = Matrix(hbm, 32, 8);
  ExpectOk(DmaTranspose(bench, All(tile), src).Ints("axes", {1, 0}).Issue());
  ExpectRefused(DmaTranspose(bench, All(tile), src).Ints("axes", {0, 1}).Issue(),
                ErrorClass::kArgument, "(0, 1)");
  ExpectRefused(DmaTranspose(bench, Slice(tile, 0, 8, 0, 31), src).Issue(), ErrorClass::kShape,
                "exchanged");
  ExpectRefused(DmaTranspose(bench, All(tile), src).Name("dge_mode", DgeMode::kHwdge).Issue(),
                ErrorClass::kShape, "2-byte");
  ExpectRefused(DmaTranspose(bench, All(tile), src).Name("dge_mode", DgeMode::kSwdge).Issue(),
                ErrorClass::kArgument, "hwdge");
  ExpectRefused(DmaTranspose(bench, All(tile), src).Name("oob_mode", OobMode::kSkip).Issue(),
                ErrorClass::kArgument, "vector offset");
  ExpectRefused(DmaTranspose(bench, Matrix(hbm, 8, 32), src).Issue(), ErrorClass::kMemory,
                "dst is in hbm");
}

}  // namespace
}  // namespace wt::chip
