#include "base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace wt {
namespace {

using Body = std::function<void(int64_t)>;

// Looks at a flag before going to sleep: some microseconds, about what waking a thread costs.
// Longer spinning starves whoever shares the cores.
constexpr int kSpins = 2000;

std::atomic<int> configured_threads{0};
thread_local bool inside_parallel = false;
std::atomic<bool> forked{false};  // a child process has no workers

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class T>
void AwaitChange(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
}

// Workers that sleep between jobs. A job is a range of task numbers that all threads draw from.
class Pool {
 public:
  ~Pool() {
    if (forked) {  // they are the parent's
      for (std::thread& worker : workers_) worker.detach();
      return;
    }
    stopping_ = true;
    Announce();
    for (std::thread& worker : workers_) worker.join();
  }

  // Runs the tasks on `threads` threads, this one included. False when another thread's job is
  // under way.
  bool TryRun(int64_t n, int threads, const Body& body) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock || forked) return false;
    while (static_cast<int>(workers_.size()) + 1 < threads) AddWorker();
    body_ = &body;
    tasks_ = n;
    helpers_ = threads - 1;
    next_.store(0, std::memory_order_relaxed);
    unfinished_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    Announce();
    DrawTasks();
    for (int left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
      AwaitChange(unfinished_, left);
    return true;
  }

 private:
  void AddWorker() {
    const int index = static_cast<int>(workers_.size());
    workers_.emplace_back([this, index, seen = jobs_.load()]() mutable {
      inside_parallel = true;
      while (true) {
        AwaitChange(jobs_, seen);
        const uint32_t now = jobs_.load(std::memory_order_acquire);
        if (now == seen) continue;  // woken for nothing
        seen = now;
        if (stopping_) return;
        if (index < helpers_) DrawTasks();
        if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_all();
      }
    });
  }

  void Announce() {
    jobs_.fetch_add(1, std::memory_order_release);
    jobs_.notify_all();
  }

  void DrawTasks() {
    for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;) (*body_)(i);
  }

  std::mutex mutex_;  // held by the thread whose job it is
  std::vector<std::thread> workers_;
  std::atomic<uint32_t> jobs_{0};   // announced so far; a change starts one
  std::atomic<int> unfinished_{0};  // workers that have not yet seen this job to its end
  std::atomic<int64_t> next_{0};    // the next task to draw
  const Body* body_ = nullptr;      // this and the next two: written before jobs_ changes
  int64_t tasks_ = 0;
  int helpers_ = 0;
  std::atomic<bool> stopping_{false};
};

Pool& ThePool() {
  static Pool pool;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  static_cast<void>(registered);
  return pool;
}

}  // namespace

void SetThreads(int n) { configured_threads = std::max(1, n); }

int Threads() {
  const int n = configured_threads.load();
  return n > 0 ? n : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(int64_t n, const Body& body) {
  const int threads = static_cast<int>(std::min<int64_t>(n, Threads()));
  if (threads > 1 && !inside_parallel) {
    inside_parallel = true;
    const bool done = ThePool().TryRun(n, threads, body);
    inside_parallel = false;
    if (done) return;
  }
  for (int64_t i = 0; i < n; ++i) body(i);
}

void ParallelRanges(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t tasks = (n + grain - 1) / grain;
  ParallelFor(tasks, [&](int64_t i) { body(i * grain, std::min(n, (i + 1) * grain)); });
}

}  // namespace wt
