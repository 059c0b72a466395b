#include "text/prefetch.h"

#include <utility>

namespace wt::text {

PrefetchLoader::PrefetchLoader(std::unique_ptr<Loader> loader, int64_t depth)
    : ahead_(std::move(loader)),
      depth_(static_cast<size_t>(depth)),
      behind_(ahead_->Clone()),
      tokens_(ahead_->tokens()),
      epoch_(ahead_->epoch()) {
  WT_CHECK(depth >= 1, "depth {}", depth);
  Start();
}

PrefetchLoader::~PrefetchLoader() { Stop(); }

void PrefetchLoader::Start() {
  stopping_ = false;
  thread_ = std::thread([this] { Produce(); });
}

void PrefetchLoader::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  ready_.clear();
}

void PrefetchLoader::Produce() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || ready_.size() < depth_; });
    if (stopping_) return;
    Batch batch;
    if (!spare_.empty()) {
      batch = std::move(spare_.front());
      spare_.pop_front();
    }
    lock.unlock();
    ahead_->Next(&batch);
    lock.lock();
    ready_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

void PrefetchLoader::Next(Batch* batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty(); });
  // The caller's old batch goes back to the thread, which writes into its memory.
  spare_.push_back(std::exchange(*batch, std::move(ready_.front())));
  ready_.pop_front();
  if (spare_.size() > depth_) spare_.pop_front();
  ++batches_since_behind_;
  tokens_ += static_cast<int64_t>(batch->inputs.size());
  epoch_ = batch->epoch;
  changed_.notify_all();
}

Loader& PrefetchLoader::HandedOut() const {
  behind_->Skip(std::exchange(batches_since_behind_, 0));
  return *behind_;
}

void PrefetchLoader::Restart() {
  Stop();
  ahead_ = behind_->Clone();
  tokens_ = behind_->tokens();
  epoch_ = behind_->epoch();
  Start();
}

void PrefetchLoader::Skip(int64_t batches) {
  HandedOut().Skip(batches);
  Restart();
}

std::string PrefetchLoader::SaveState() const { return HandedOut().SaveState(); }

Status PrefetchLoader::RestoreState(std::string_view state) {
  WT_RETURN_IF_ERROR(HandedOut().RestoreState(state));
  Restart();
  return {};
}

std::unique_ptr<Loader> PrefetchLoader::Clone() const {
  return std::make_unique<PrefetchLoader>(HandedOut().Clone(), static_cast<int64_t>(depth_));
}

}  // namespace wt::text
