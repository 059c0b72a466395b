// Searches, selections and patterns of the simulated NeuronCore with values, on one core of the
// host: the instructions of attention masks, top-k and routing, on tiles of [128, 512].
//     build/release/bench/chip_search_bench
#include <benchmark/benchmark.h>

#include "base/parallel.h"
#include "chip/testing.h"

namespace {

using namespace wt::chip;  // NOLINT
using wt::DType;

constexpr int64_t kRows = 128, kColumns = 512;

AccessPattern Tile(Bench& bench, DType dtype) {
  wt::Philox random(1, 0);
  std::vector<float> values(size_t{kRows * kColumns});
  for (float& value : values) value = 16 * random.NextUniform() - 8;
  return All(bench.Sbuf("t", kRows, kColumns, dtype, values));
}

AccessPattern Column(Bench& bench, float value) {
  return All(bench.Sbuf("c", kRows, 1, DType::kF32, std::vector<float>(size_t{kRows}, value)));
}

void Run(benchmark::State& state, Call& call) {
  wt::SetThreads(1);
  for (auto _ : state) {
    const wt::Status status = call.Issue();
    if (!status.ok()) return state.SkipWithError(status.message().c_str());
  }
}

void Max8(benchmark::State& state, DType dtype) {
  Bench bench;
  Call call = bench.Call("max8");
  call.Op("src", Tile(bench, dtype)).Op("dst", All(bench.Sbuf("dst", kRows, 8, DType::kF32)));
  Run(state, call);
}

void MatchReplace8(benchmark::State& state) {
  Bench bench;
  const AccessPattern data = Tile(bench, DType::kF32);
  Tensor* top = bench.Sbuf("top", kRows, 8, DType::kF32);
  benchmark::DoNotOptimize(bench.Call("max8").Op("src", data).Op("dst", All(top)).Issue().ok());
  Call call = bench.Call("nc_match_replace8");
  call.Op("dst", Tile(bench, DType::kF32)).Op("data", data).Op("vals", All(top));
  Run(state, call.Float("imm", -1e30));
}

void Iota(benchmark::State& state, DType dtype) {
  Bench bench;
  Call call = bench.Call("iota");
  call.Op("dst", Tile(bench, dtype)).Ints("pattern", {1, kColumns}).Int("channel_multiplier", 1);
  Run(state, call);
}

void AffineSelect(benchmark::State& state, DType dtype) {
  Bench bench;
  Call call = bench.Call("affine_select");
  call.Op("dst", Tile(bench, dtype)).Op("on_true_tile", Tile(bench, dtype));
  call.Ints("pattern", {-1, kColumns}).Int("channel_multiplier", 1).Float("on_false_value", 0);
  Run(state, call.Name("cmp_op", AluOp::kGreaterEqual));
}

void RangeSelect(benchmark::State& state) {
  Bench bench;
  Call call = bench.Call("range_select");
  call.Op("dst", Tile(bench, DType::kF32)).Op("on_true_tile", Tile(bench, DType::kF32));
  call.Op("bound0", Column(bench, 0)).Op("bound1", Column(bench, 300));
  call.Name("comp_op0", AluOp::kGreaterEqual).Name("comp_op1", AluOp::kLess);
  Run(state, call.Op("reduce_res", Column(bench, 0)));
}

void SelectReduce(benchmark::State& state) {
  Bench bench;
  Call call = bench.Call("select_reduce");
  call.Op("dst", Tile(bench, DType::kF32)).Op("on_true", Tile(bench, DType::kF32));
  call.Op("predicate", Tile(bench, DType::kI8)).Float("on_false", 0);
  call.Name("reduce_cmd", ReduceCmd::kResetReduce);
  Run(state, call.Op("reduce_res", Column(bench, 0)));
}

void TensorScalarReduce(benchmark::State& state, DType dtype) {
  Bench bench;
  Call call = bench.Call("tensor_scalar_reduce");
  call.Op("dst", Tile(bench, dtype)).Op("data", Tile(bench, dtype)).Float("operand0", 2);
  call.Name("op0", AluOp::kMultiply).Name("reduce_op", AluOp::kAdd);
  Run(state, call.Op("reduce_res", Column(bench, 0)));
}

void StreamShuffle(benchmark::State& state) {
  Bench bench;
  std::vector<int64_t> mask;
  for (int64_t i = 0; i < 32; ++i) mask.push_back((i + 1) % 32);
  Call call = bench.Call("nc_stream_shuffle");
  call.Op("dst", Tile(bench, DType::kF32)).Op("src", Tile(bench, DType::kF32));
  Run(state, call.Ints("shuffle_mask", mask));
}

#define WT_BENCHMARK(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Unit(benchmark::kMicrosecond)
WT_BENCHMARK(Max8, f32, DType::kF32);
WT_BENCHMARK(Max8, bf16, DType::kBF16);
BENCHMARK(MatchReplace8)->Unit(benchmark::kMicrosecond);
WT_BENCHMARK(Iota, i32, DType::kI32);
WT_BENCHMARK(Iota, f32, DType::kF32);
WT_BENCHMARK(AffineSelect, f32, DType::kF32);
WT_BENCHMARK(AffineSelect, bf16, DType::kBF16);
BENCHMARK(RangeSelect)->Unit(benchmark::kMicrosecond);
BENCHMARK(SelectReduce)->Unit(benchmark::kMicrosecond);
WT_BENCHMARK(TensorScalarReduce, f32, DType::kF32);
WT_BENCHMARK(TensorScalarReduce, bf16, DType::kBF16);
BENCHMARK(StreamShuffle)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
