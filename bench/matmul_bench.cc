// How close MatMul and attention come to what the machine can multiply, on the shapes of training:
// GFLOP/s and the share of the measured peak of the same instruction set. Rates are per second of
// processor time of the whole process times threads where --cpu-time is given, which keeps figures
// comparable on a machine that is busy with other work.
//
//   matmul_bench [--threads N] [--isa NAME] [--repeats N] [--cpu-time]
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/attention.h"
#include "tensor/block_gemm.h"
#include "tensor/matmul.h"
#include "tensor/peak.h"

namespace wt::tensor {
namespace {

struct Options {
  int threads = 2, repeats = 5;
  std::string isa;
  bool cpu_time = false;
};

double Now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The shortest of the repeats, after one that fills the caches and the scratch.
double BestSeconds(const Options& options, const std::function<void()>& body) {
  const clockid_t clock = options.cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  double best = 1e30;
  for (int i = 0; i <= options.repeats; ++i) {
    const double start = Now(clock);
    body();
    if (i > 0) best = std::min(best, Now(clock) - start);
  }
  return options.cpu_time ? best / options.threads : best;
}

std::vector<BF16> RandomBF16(int64_t n) {
  std::vector<BF16> values(static_cast<size_t>(n));
  Philox random(1, 2);
  for (BF16& value : values) value = BF16(random.NextUniform() - 0.5f);
  return values;
}

void Print(const std::string& what, double flops, double seconds, double peak) {
  fmt::print("{:<34} {:>9.2f} ms {:>9.1f} GFLOP/s {:>6.1f} %\n", what, seconds * 1e3,
             flops / seconds * 1e-9, 100 * flops / seconds / peak);
}

struct Shape {
  const char* kind;  // "fwd" X W^T, "dX" dY W, "dW" dY^T X
  int64_t m, n, k;
};

constexpr Shape kShapes[] = {
    {"fwd", 8192, 640, 640},  {"fwd", 8192, 2560, 640}, {"fwd", 8192, 640, 2560},
    {"dX", 8192, 640, 640},   {"dX", 8192, 640, 2560},  {"dX", 8192, 2560, 640},
    {"dW", 640, 640, 8192},   {"dW", 2560, 640, 8192},  {"dW", 640, 2560, 8192},
    {"fwd", 8192, 8192, 640}, {"dX", 8192, 640, 8192},  {"dW", 8192, 640, 8192},
    {"fwd", 8192, 192, 192},  {"fwd", 8192, 768, 192},  {"fwd", 8192, 192, 768},
    {"dX", 8192, 192, 768},   {"dW", 192, 192, 8192},   {"dW", 768, 192, 8192},
    {"fwd", 512, 512, 512},   {"fwd", 16, 2560, 640},   {"fwd", 1, 2560, 640}};

void RunShape(const Options& options, const Shape& s, double peak) {
  const std::string_view kind = s.kind;
  const auto a = RandomBF16(s.m * s.k), b = RandomBF16(s.k * s.n);
  std::vector<float> c(static_cast<size_t>(s.m * s.n));
  const ConstMatrix av = kind == "dW" ? RowMajor(a.data(), DType::kBF16, s.k, s.m).Transposed()
                                      : RowMajor(a.data(), DType::kBF16, s.m, s.k);
  const ConstMatrix bv = kind == "fwd" ? RowMajor(b.data(), DType::kBF16, s.n, s.k).Transposed()
                                       : RowMajor(b.data(), DType::kBF16, s.k, s.n);
  const DType c_dtype = kind == "dW" ? DType::kF32 : DType::kBF16;
  const Matrix cv = MutableRowMajor(c.data(), c_dtype, s.m, s.n);
  const double seconds = BestSeconds(options, [&] { MatMul(av, bv, cv); });
  Print(fmt::format("{:<4} m {:>5} n {:>5} k {:>5}", kind, s.m, s.n, s.k),
        2.0 * static_cast<double>(s.m * s.n * s.k), seconds, peak);
}

// Counts the visible half of the scores: 2 products of it forward, 5 backward.
void RunAttention(const Options& options, const AttentionShape& s, double peak) {
  const int64_t n = s.batch * s.time * s.heads * s.head_dim;
  const auto q = RandomBF16(n), k = RandomBF16(n), v = RandomBF16(n), d_o = RandomBF16(n);
  auto o = q, d_q = q, d_k = q, d_v = q;
  std::vector<float> lse(static_cast<size_t>(s.batch * s.heads * s.time));
  const double product =
      static_cast<double>(s.batch * s.heads * s.time * (s.time + 1) * s.head_dim);
  const auto name = [&](const char* pass) {
    return fmt::format("attention {} B{} T{} H{} d{}", pass, s.batch, s.time, s.heads, s.head_dim);
  };
  const double forward = BestSeconds(options, [&] {
    AttentionForward(s, DType::kBF16, q.data(), k.data(), v.data(), o.data(), lse.data());
  });
  Print(name("fwd"), 2 * product, forward, peak);
  const double backward = BestSeconds(options, [&] {
    AttentionBackward(s, DType::kBF16, q.data(), k.data(), v.data(), o.data(), lse.data(),
                      d_o.data(), d_q.data(), d_k.data(), d_v.data());
  });
  Print(name("bwd"), 5 * product, backward, peak);
}

int Run(const Options& options) {
  SetThreads(options.threads);
  if (!options.isa.empty()) {
    if (const Status set = SetBlockGemm(options.isa); !set.ok()) {
      fmt::print(stderr, "matmul_bench: {}\n", set.message());
      return 2;
    }
  }
  for (const BlockGemm* gemm : AvailableBlockGemms()) {
    fmt::print("peak {:<12} {:>9.1f} GFLOP/s on 1 thread, {:>9.1f} on {}\n", gemm->name,
               MeasureMatrixPeak(*gemm, 1) * 1e-9, MeasureMatrixPeak(*gemm, options.threads) * 1e-9,
               options.threads);
  }
  const double peak = MeasureMatrixPeak(ActiveBlockGemm(), 1) * options.threads;
  fmt::print("{}: shares are of {:.1f} GFLOP/s, threads times the peak of one\n",
             ActiveBlockGemm().name, peak * 1e-9);
  for (const Shape& shape : kShapes) RunShape(options, shape, peak);
  RunAttention(options, {8, 1024, 5, 5, 128, 1024, 0.088f}, peak);
  RunAttention(options, {8, 1024, 3, 3, 64, 1024, 0.125f}, peak);
  return 0;
}

}  // namespace
}  // namespace wt::tensor

int main(int argc, char** argv) {
  wt::tensor::Options options;
  CLI::App app("Matrix products and attention against the measured peak");
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  app.add_option("--isa", options.isa);
  app.add_option("--repeats", options.repeats)->check(CLI::PositiveNumber);
  app.add_flag("--cpu-time", options.cpu_time);
  CLI11_PARSE(app, argc, argv);
  return wt::tensor::Run(options);
}
