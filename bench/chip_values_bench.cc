// One instruction of the simulated NeuronCore with values, on one core of the host. Sizes are the
// ones kernels use: [128, 512]; `strided` takes every second element.
//     build/release/bench/chip_values_bench
#include <benchmark/benchmark.h>

#include "base/parallel.h"
#include "chip/testing.h"

namespace {

using namespace wt::chip;  // NOLINT
using wt::DType;

constexpr int64_t kRows = 128, kColumns = 512;

std::vector<float> Values(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.25f + static_cast<float>(i % 1009) / 1009.0f;
  return values;
}

// A tile of 128 x 512 elements, or every second one of 128 x 1024.
AccessPattern Tile(Bench& bench, Memory memory, DType dtype, bool strided) {
  const int64_t width = strided ? 2 * kColumns : kColumns;
  Tensor* tensor = bench.Make(memory, "t", kRows, width, dtype, Values(kRows * width));
  return Slice(tensor, 0, kRows, 0, kColumns, strided ? 2 : 1);
}

void Run(benchmark::State& state, Call& call) {
  wt::SetThreads(1);
  for (auto _ : state) {
    const wt::Status status = call.Issue();
    if (!status.ok()) return state.SkipWithError(status.message().c_str());
  }
}

void Matmul(benchmark::State& state, DType dtype, int64_t k, int64_t n, bool accumulate) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", k, 128, dtype, Values(k * 128));
  Tensor* b = bench.Sbuf("b", k, n, dtype, Values(k * n));
  Tensor* c = bench.Psum("c", 128, n, DType::kF32);
  Call call = bench.Call("nc_matmul");
  call.Op("dst", All(c)).Op("stationary", All(a)).Op("moving", All(b)).Bool("accumulate", false);
  benchmark::DoNotOptimize(call.Issue().ok());
  call.Bool("accumulate", accumulate);
  Run(state, call);
}

void TensorTensor(benchmark::State& state, DType dtype, bool strided) {
  Bench bench;
  Call call = bench.Call("tensor_tensor");
  call.Op("dst", Tile(bench, Memory::kSbuf, dtype, strided))
      .Op("data1", Tile(bench, Memory::kSbuf, dtype, strided))
      .Op("data2", Tile(bench, Memory::kSbuf, dtype, strided))
      .Name("op", AluOp::kMultiply);
  Run(state, call);
}

void TensorScalar(benchmark::State& state, DType dtype, bool strided) {
  Bench bench;
  Tensor* column = bench.Sbuf("column", kRows, 1, DType::kF32, Values(kRows));
  Call call = bench.Call("tensor_scalar");
  call.Op("dst", Tile(bench, Memory::kSbuf, dtype, strided))
      .Op("data", Tile(bench, Memory::kSbuf, dtype, strided))
      .Name("op0", AluOp::kMultiply)
      .Op("operand0", All(column))
      .Name("op1", AluOp::kAdd)
      .Float("operand1", 1);
  Run(state, call);
}

void TensorCopy(benchmark::State& state, Memory from, DType a, DType b, bool strided) {
  Bench bench;
  Call call = bench.Call("tensor_copy");
  call.Op("dst", Tile(bench, Memory::kSbuf, b, strided)).Op("src", Tile(bench, from, a, strided));
  Run(state, call);
}

void TensorReduce(benchmark::State& state, DType dtype, AluOp op, bool strided) {
  Bench bench;
  Tensor* sums = bench.Sbuf("sums", kRows, 1, DType::kF32);
  Call call = bench.Call("tensor_reduce");
  call.Op("dst", All(sums))
      .Name("op", op)
      .Op("data", Tile(bench, Memory::kSbuf, dtype, strided))
      .Int("axis", 1);
  Run(state, call);
}

void Activate(benchmark::State& state, Activation function, DType dtype, bool reduce) {
  Bench bench;
  Tensor* bias = bench.Sbuf("bias", kRows, 1, DType::kF32, Values(kRows));
  Tensor* sums = bench.Sbuf("sums", kRows, 1, DType::kF32);
  Call call = bench.Call("activation");
  call.Op("dst", Tile(bench, Memory::kSbuf, dtype, false))
      .Name("op", function)
      .Op("data", Tile(bench, Memory::kSbuf, dtype, false))
      .Op("bias", All(bias))
      .Float("scale", 0.5);
  if (reduce)
    call.Name("reduce_op", AluOp::kAdd)
        .Op("reduce_res", All(sums))
        .Name("reduce_cmd", ReduceCmd::kResetReduce);
  Run(state, call);
}

void Transpose(benchmark::State& state, DType dtype) {
  Bench bench;
  Tensor* data = bench.Sbuf("data", 128, 128, dtype, Values(128 * 128));
  Tensor* result = bench.Psum("result", 128, 128, dtype);
  Call call = bench.Call("nc_transpose");
  call.Op("dst", All(result)).Op("data", All(data));
  Run(state, call);
}

void TransposeByMatmul(benchmark::State& state, DType dtype) {
  Bench bench;
  std::vector<float> identity(128 * 128);
  for (size_t i = 0; i < 128; ++i) identity[i * 129] = 1;
  Tensor* data = bench.Sbuf("data", 128, 128, dtype, Values(128 * 128));
  Tensor* one = bench.Sbuf("one", 128, 128, dtype, identity);
  Tensor* result = bench.Psum("result", 128, 128, dtype);
  Call call = bench.Call("nc_matmul");
  call.Op("dst", All(result))
      .Op("stationary", All(data))
      .Op("moving", All(one))
      .Bool("is_transpose", true);
  Run(state, call);
}

void Load(benchmark::State& state, DType from, DType to) {
  Bench bench;
  Tensor* hbm = bench.Hbm("hbm", kRows * 2048, from, Values(kRows * 2048));
  Tensor* tile = bench.Sbuf("tile", kRows, kColumns, to);
  AccessPattern source = Matrix(hbm, kRows, kColumns);
  source.dims[0].step = 2048;
  Call call = bench.Call("dma_copy");
  call.Op("dst", All(tile)).Op("src", source);
  Run(state, call);
}

void Scan(benchmark::State& state) {
  Bench bench;
  Call call = bench.Call("tensor_tensor_scan");
  call.Op("dst", Tile(bench, Memory::kSbuf, DType::kF32, false))
      .Op("data0", Tile(bench, Memory::kSbuf, DType::kF32, false))
      .Op("data1", Tile(bench, Memory::kSbuf, DType::kF32, false))
      .Float("initial", 0)
      .Name("op0", AluOp::kMultiply)
      .Name("op1", AluOp::kAdd);
  Run(state, call);
}

void Memset(benchmark::State& state, DType dtype) {
  Bench bench;
  Call call = bench.Call("memset");
  call.Op("dst", Tile(bench, Memory::kSbuf, dtype, false)).Float("value", 0);
  Run(state, call);
}

// The life of a tile: allocated, written in two halves, released.
void FreshTile(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) {
    Tensor* tile = bench.Sbuf("tile", kRows, kColumns, DType::kF32);
    for (int64_t half : {0, 1}) {
      Call call = bench.Call("memset");
      call.Op("dst", Slice(tile, 0, kRows, half, kColumns / 2, 2)).Float("value", 0);
      benchmark::DoNotOptimize(call.Issue().ok());
    }
    bench.core().Release(tile);
  }
}

// What an instruction costs beside its elements: one element, with and without values.
void Overhead(benchmark::State& state, bool values) {
  CoreOptions options;
  options.values = values;
  Bench bench(Generation::kGen3, options);
  Tensor* a = bench.Sbuf("a", 1, 1, DType::kF32);
  Tensor* b = bench.Sbuf("b", 1, 1, DType::kF32);
  if (values) bench.Fill(a, {1});
  Call call = bench.Call("tensor_scalar");
  call.Op("dst", All(b)).Op("data", All(a)).Name("op0", AluOp::kAdd).Float("operand0", 1);
  Run(state, call);
}

const auto kF32 = DType::kF32;
const auto kBF16 = DType::kBF16;
#define WT_BENCHMARK(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Unit(benchmark::kMicrosecond)
WT_BENCHMARK(Matmul, bf16_128x128x512, kBF16, 128, 512, false);
WT_BENCHMARK(Matmul, bf16_128x128x512_accumulate, kBF16, 128, 512, true);
WT_BENCHMARK(Matmul, bf16_64x128x128, kBF16, 64, 128, false);
WT_BENCHMARK(Matmul, f32_128x128x512, kF32, 128, 512, false);
WT_BENCHMARK(Matmul, f16_128x128x512, DType::kF16, 128, 512, false);
WT_BENCHMARK(Matmul, f8e4m3_128x128x512, DType::kF8E4M3, 128, 512, false);
WT_BENCHMARK(TensorTensor, f32, kF32, false);
WT_BENCHMARK(TensorTensor, bf16, kBF16, false);
WT_BENCHMARK(TensorTensor, f16, DType::kF16, false);
WT_BENCHMARK(TensorTensor, f32_strided, kF32, true);
WT_BENCHMARK(TensorTensor, bf16_strided, kBF16, true);
WT_BENCHMARK(TensorScalar, f32, kF32, false);
WT_BENCHMARK(TensorScalar, bf16, kBF16, false);
WT_BENCHMARK(TensorScalar, f32_strided, kF32, true);
WT_BENCHMARK(TensorCopy, f32, Memory::kSbuf, kF32, kF32, false);
WT_BENCHMARK(TensorCopy, psum_to_bf16, Memory::kPsum, kF32, kBF16, false);
WT_BENCHMARK(TensorCopy, bf16_to_f32, Memory::kSbuf, kBF16, kF32, false);
WT_BENCHMARK(TensorCopy, f32_to_f8e4m3, Memory::kSbuf, kF32, DType::kF8E4M3, false);
WT_BENCHMARK(TensorCopy, f32_to_i32, Memory::kSbuf, kF32, DType::kI32, false);
WT_BENCHMARK(TensorCopy, f32_strided, Memory::kSbuf, kF32, kF32, true);
WT_BENCHMARK(TensorReduce, f32_sum, kF32, AluOp::kAdd, false);
WT_BENCHMARK(TensorReduce, f32_max, kF32, AluOp::kMaximum, false);
WT_BENCHMARK(TensorReduce, bf16_sum, kBF16, AluOp::kAdd, false);
WT_BENCHMARK(TensorReduce, f32_sum_strided, kF32, AluOp::kAdd, true);
WT_BENCHMARK(Activate, copy, Activation::kCopy, kF32, false);
WT_BENCHMARK(Activate, exp, Activation::kExp, kF32, false);
WT_BENCHMARK(Activate, exp_bf16_sum, Activation::kExp, kBF16, true);
WT_BENCHMARK(Activate, log, Activation::kLog, kF32, false);
WT_BENCHMARK(Activate, sqrt, Activation::kSqrt, kF32, false);
WT_BENCHMARK(Activate, tanh, Activation::kTanh, kF32, false);
WT_BENCHMARK(Activate, sigmoid, Activation::kSigmoid, kF32, false);
WT_BENCHMARK(Activate, silu, Activation::kSilu, kF32, false);
WT_BENCHMARK(Activate, gelu, Activation::kGelu, kF32, false);
WT_BENCHMARK(Activate, gelu_apprx_tanh, Activation::kGeluApprxTanh, kF32, false);
WT_BENCHMARK(Activate, sin, Activation::kSin, kF32, false);
WT_BENCHMARK(Activate, softplus, Activation::kSoftplus, kF32, false);
WT_BENCHMARK(Transpose, f32, kF32);
WT_BENCHMARK(Transpose, bf16, kBF16);
WT_BENCHMARK(TransposeByMatmul, bf16, kBF16);
WT_BENCHMARK(Load, f32, kF32, kF32);
WT_BENCHMARK(Load, f32_to_bf16, kF32, kBF16);
BENCHMARK(Scan)->Unit(benchmark::kMicrosecond);
WT_BENCHMARK(Memset, f32, kF32);
WT_BENCHMARK(Overhead, values, true);
WT_BENCHMARK(Overhead, shapes_only, false);
BENCHMARK(FreshTile)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
