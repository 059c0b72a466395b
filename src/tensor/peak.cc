// Every thread runs the instruction set's register loop side by side with the others, in windows.
#include "tensor/peak.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace wt::tensor {
namespace {

constexpr double kSeconds = 0.1;         // of wall-clock time
constexpr double kWindowSeconds = 1e-3;  // of processor time

double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// FLOP/s of this thread over one window.
double Window(const BlockGemm& gemm) {
  constexpr int64_t kRounds = 2000;
  double flops = 0, elapsed = 0;
  const double start = ThreadSeconds();
  while (elapsed < kWindowSeconds) {
    flops += gemm.spin(kRounds);
    elapsed = ThreadSeconds() - start;
  }
  return flops / elapsed;
}

double BestWindow(const BlockGemm& gemm) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(kSeconds);
  double best = Window(gemm);
  while (Clock::now() < end) best = std::max(best, Window(gemm));
  return best;
}

}  // namespace

double MeasureMatrixPeak(const BlockGemm& gemm, int threads) {
  std::vector<double> rates(static_cast<size_t>(std::max(1, threads)));
  std::vector<std::thread> helpers;
  for (size_t t = 1; t < rates.size(); ++t) {
    helpers.emplace_back([&gemm, &rates, t] { rates[t] = BestWindow(gemm); });
  }
  rates[0] = BestWindow(gemm);
  for (std::thread& helper : helpers) helper.join();
  double sum = 0;
  for (double rate : rates) sum += rate;
  return sum;
}

double MeasureMatrixPeak(int threads) { return MeasureMatrixPeak(ActiveBlockGemm(), threads); }

}  // namespace wt::tensor
