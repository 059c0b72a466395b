#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace wt {
namespace {

std::atomic<int> configured_threads{0};
thread_local bool inside_parallel = false;

#ifdef _OPENMP
void RunTasks(int64_t n, int threads, const std::function<void(int64_t)>& body) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int64_t i = 0; i < n; ++i) {
    inside_parallel = true;
    body(i);
    inside_parallel = false;
  }
}
#else
void RunTasks(int64_t n, int threads, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    inside_parallel = true;
    for (int64_t i = next++; i < n; i = next++) body(i);
    inside_parallel = false;
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}
#endif

}  // namespace

void SetThreads(int n) { configured_threads = std::max(1, n); }

int Threads() {
  const int n = configured_threads.load();
  return n > 0 ? n : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(int64_t n, const std::function<void(int64_t)>& body) {
  const int threads = static_cast<int>(std::min<int64_t>(n, Threads()));
  if (threads <= 1 || inside_parallel) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  RunTasks(n, threads, body);
}

void ParallelRanges(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t tasks = (n + grain - 1) / grain;
  ParallelFor(tasks, [&](int64_t i) { body(i * grain, std::min(n, (i + 1) * grain)); });
}

}  // namespace wt
