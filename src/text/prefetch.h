// PrefetchLoader: makes batches on a background thread while the training loop computes. Wraps any
// Loader; what it hands out and saves is exactly what the wrapped loader would.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "text/loader.h"

namespace wt::text {

// One thread at a time may call it. Its own thread ends with it.
class PrefetchLoader final : public Loader {
 public:
  // Keeps up to `depth` >= 1 batches ready.
  explicit PrefetchLoader(std::unique_ptr<Loader> loader, int64_t depth = 4);
  ~PrefetchLoader() override;

  void Next(Batch* batch) override;  // waits when no batch is ready
  void Skip(int64_t batches) override;
  int64_t tokens() const override { return tokens_; }
  int64_t epoch() const override { return epoch_; }
  // As of the last batch handed out, whatever is already made ahead. It costs a replay, without
  // tokens, of the batches since the last call: some microseconds each.
  std::string SaveState() const override;
  Status RestoreState(std::string_view state) override;
  std::unique_ptr<Loader> Clone() const override;

 private:
  void Start();
  void Stop();  // also drops the batches made ahead
  void Produce();
  // The loader as it is after the last batch handed out.
  Loader& HandedOut() const;
  // Goes on from behind_, which somebody moved.
  void Restart();

  std::unique_ptr<Loader> ahead_;  // advanced by the thread, or by nobody while it is stopped
  const size_t depth_;

  mutable std::unique_ptr<Loader> behind_;    // a copy of ahead_, advanced when somebody asks
  mutable int64_t batches_since_behind_ = 0;  // handed out and not yet replayed on behind_

  int64_t tokens_, epoch_;  // as of the last batch handed out

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_, spare_;  // guarded by mutex_
  bool stopping_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace wt::text
