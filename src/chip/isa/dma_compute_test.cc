#include <algorithm>
#include <bit>
#include <numeric>

#include "chip/isa/testing.h"

namespace wt::chip::dma_compute_test {
namespace {

Call Add(Bench& bench, const AccessPattern& dst, const std::vector<AccessPattern>& srcs) {
  Call call = bench.Call("dma_compute");
  call.Op("dst", dst).Ops("srcs", srcs).Name("reduce_op", AluOp::kAdd);
  return call;
}

TEST(DmaCompute, SumsAcrossMemoriesAndTypes) {
  Bench bench;
  Tensor* a = bench.Hbm("a", 4, DType::kF32, {1, 2, 3, 4});
  Tensor* b = bench.Sbuf("b", 2, 2, DType::kBF16, {10, 20, 30, 40});
  Tensor* c = bench.Hbm("c", 4, DType::kI32, {100, 200, 300, 400});
  Tensor* dst = bench.Sbuf("dst", 2, 2, DType::kF32);
  ExpectOk(Add(bench, All(dst), {Matrix(a, 2, 2), All(b), Matrix(c, 2, 2)}).Issue());
  ExpectSame(Bench::Read(dst), {111, 222, 333, 444});
}

TEST(DmaCompute, OneSourceAndScalesOfOne) {
  Bench bench;
  Tensor* a = bench.Hbm("a", 2, DType::kF32, {1.5f, 2.5f});
  Tensor* dst = bench.Hbm("dst", 2, DType::kI32);
  ExpectOk(Add(bench, All(dst), {All(a)}).Ints("scales", {std::bit_cast<int64_t>(1.0)}).Issue());
  ExpectSame(Bench::Read(dst), {2, 2});  // ties to even
}

TEST(DmaCompute, AddsIntoOneOfItsSources) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 3, DType::kF32, {1, 2, 3});
  Tensor* acc = bench.Sbuf("acc", 1, 3, DType::kF32, {10, 10, 10});
  for (int i = 0; i < 3; ++i) ExpectOk(Add(bench, All(acc), {All(a), All(acc)}).Issue());
  ExpectSame(Bench::Read(acc), {13, 16, 19});
}

TEST(DmaCompute, RandomScatterAddAgainstTwin) {
  Philox random(1, 8);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t table = 8 + int64_t(random.NextBelow(60)),
                  width = 1 + int64_t(random.NextBelow(9));
    const int64_t rows = 1 + int64_t(random.NextBelow(uint64_t(table)));
    std::vector<float> order(static_cast<size_t>(table));
    std::iota(order.begin(), order.end(), 0.0f);
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.NextBelow(i + 1)]);
    order.resize(size_t(rows));
    Tensor* t =
        bench.Hbm("table", table * width, DType::kF32, RandomWhole(random, table * width, 0, 9));
    Tensor* x = bench.Sbuf("x", rows, width, DType::kF32, RandomWhole(random, rows * width, 0, 9));
    Tensor* index = bench.Sbuf("index", rows, 1, DType::kI32, order);
    std::vector<float> want = Bench::Read(t);
    const std::vector<float> more = Bench::Read(x);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < width; ++i)
        want[size_t(int64_t(order[size_t(r)]) * width + i)] += more[size_t(r * width + i)];
    const AccessPattern view = Matrix(t, rows, width);
    Call call = Add(bench, view, {view, All(x)});
    call.Offset("dst", All(index), width, true).Offset("srcs", All(index), width, true);
    ExpectOk(call.Issue());
    ExpectSame(Bench::Read(t), want);
  }
}

TEST(DmaCompute, GatherAddSkipsRowsOutside) {
  Bench bench;
  Tensor* t = bench.Hbm("table", 6, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* acc = bench.Sbuf("acc", 3, 2, DType::kF32, {10, 10, 20, 20, 30, 30});
  Tensor* index = bench.Sbuf("index", 3, 1, DType::kI32, {2, 7, 0});
  const auto call = [&] {
    Call c = Add(bench, All(acc), {Matrix(t, 3, 2), All(acc)});
    c.Offset("srcs", All(index), 2, true);
    return c;
  };
  ExpectRefused(call().Issue(), ErrorClass::kOutOfBounds, "offset 7 in row 1");
  ExpectOk(call().Name("oob_mode", OobMode::kSkip).Issue());
  ExpectSame(Bench::Read(acc), {15, 16, 20, 20, 31, 32});
}

TEST(DmaCompute, Refusals) {
  Bench bench;
  Tensor* a = bench.Hbm("a", 4, DType::kF32, {1, 2, 3, 4});
  Tensor* dst = bench.Sbuf("dst", 2, 2, DType::kF32, {0, 0, 0, 0});
  ExpectRefused(Add(bench, All(dst), {All(a)}).Name("reduce_op", AluOp::kMaximum).Issue(),
                ErrorClass::kArgument, "reduce_op is maximum");
  ExpectRefused(
      Add(bench, All(dst), {All(a)}).Ints("scales", {std::bit_cast<int64_t>(2.0)}).Issue(),
      ErrorClass::kArgument, "a scale is 2");
  ExpectRefused(Add(bench, All(dst), std::vector<AccessPattern>(17, All(a))).Issue(),
                ErrorClass::kArgument, "17 sources");
  ExpectRefused(Add(bench, All(dst), {Matrix(a, 1, 3)}).Issue(), ErrorClass::kShape,
                "source 0 has 3");
  Tensor* psum = bench.Psum("psum", 2, 2, DType::kF32, {0, 0, 0, 0});
  ExpectRefused(Add(bench, All(psum), {All(a)}).Issue(), ErrorClass::kMemory, "psum");
}

TEST(DmaCompute, ScatterNeedsDstAmongTheSources) {
  Bench bench;
  Tensor* t = bench.Hbm("table", 6, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {0, 0, 0, 0});
  Tensor* index = bench.Sbuf("index", 2, 1, DType::kI32, {1, 0});
  const AccessPattern view = Matrix(t, 2, 2);
  Call one = Add(bench, view, {All(x)});
  ExpectRefused(one.Offset("dst", All(index), 2, true).Issue(), ErrorClass::kArgument, "two");
  Call other = Add(bench, view, {All(x), All(x)});
  ExpectRefused(other.Offset("dst", All(index), 2, true).Issue(), ErrorClass::kArgument,
                "no source is dst");
  Call repeated = Add(bench, view, {view, All(x)});
  ExpectRefused(repeated.Bool("unique_indices", false).Offset("dst", All(index), 2, true).Issue(),
                ErrorClass::kArgument, "unique_indices is False");
}

TEST(DmaCompute, RefusesAnIndexTwice) {
  Bench bench;
  Tensor* t = bench.Hbm("table", 6, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {0, 0, 0, 0});
  Tensor* index = bench.Sbuf("index", 2, 1, DType::kI32, {1, 1});
  AccessPattern view = Matrix(t, 2, 2);
  Call call = Add(bench, view, {view, All(x)});
  call.Offset("dst", All(index), 2, true).Offset("srcs", All(index), 2, true);
  ExpectRefused(call.Issue(), ErrorClass::kUndefined, "make indices unique");
}

}  // namespace
}  // namespace wt::chip::dma_compute_test
