#include "text/fetch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "base/text_util.h"
#include "text/fetch_part.h"
#include "text/fetch_request.h"
#include "text/parquet.h"

namespace wt::text {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kMaxBackoffSeconds = 60;

bool Stopped(const FetchOptions& options) { return options.stopped && options.stopped(); }

Status Interrupted(const std::string& path) {
  return Error(Code::kInterrupted,
               "{}: stopped before it was whole; what came is kept, and fetching again continues",
               path);
}

// Whether a file agrees with what is known of it.
Status CheckKnown(const std::string& path, int64_t size, const KnownFile& known) {
  if (known.bytes >= 0 && size != known.bytes) {
    return Error(Code::kMismatch, "{} has {} bytes, expected {}", path, size, known.bytes);
  }
  if (known.sha256.empty()) return {};
  WT_ASSIGN_OR_RETURN(const std::string sha256, Sha256OfFile(path));
  if (sha256 == known.sha256) return {};
  return Error(Code::kMismatch, "{} has sha256 {}, expected {}", path, sha256, known.sha256);
}

bool AlreadyThere(const std::string& path, const KnownFile& known) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && CheckKnown(path, static_cast<int64_t>(size), known).ok();
}

// In short steps, so that a stop is heard.
void Wait(double seconds, const FetchOptions& options) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until && !Stopped(options))
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(
        until - Clock::now(), std::chrono::milliseconds(100)));
}

Status FetchWithRetries(const std::string& url, const std::string& path, const KnownFile& known,
                        const FetchOptions& options,
                        const std::function<void(int64_t, int64_t)>& moved) {
  WT_ASSIGN_OR_RETURN(auto part, PartFile::Open(path + ".part"));
  double backoff = options.backoff_seconds;
  for (int attempt = 1;; ++attempt) {
    Request request(url, part.get(), {options.stall_seconds, options.stopped, moved});
    Request::Outcome outcome = request.Run();
    if (outcome.status.ok()) {
      outcome.status = CheckKnown(path + ".part", part->size(), known);
      if (outcome.status.ok()) return part->RenameTo(path);
      WT_RETURN_IF_ERROR(part->Clear());
      outcome.again = request.resumed();  // perhaps two versions in one: once more, from its start
    }
    if (Stopped(options)) return Interrupted(path);
    if (!outcome.again || attempt >= options.attempts) {
      return Error(outcome.status.code(), "{} ({} of {} attempts){}", outcome.status.message(),
                   attempt, options.attempts,
                   outcome.again ? "; check the network and fetch again, it continues" : "");
    }
    Wait(std::max(backoff, std::min(outcome.wait_seconds, kMaxBackoffSeconds)), options);
    backoff = std::min(2 * backoff, kMaxBackoffSeconds);
  }
}

// The shards to fetch, validation first: a folder that was left half full must not take a training
// shard for the last one.
std::vector<int64_t> ShardsOf(const CorpusEntry& entry, int64_t wanted) {
  const int64_t last = entry.shards - 1;
  std::vector<int64_t> shards = {last};
  const int64_t train = wanted < 0 ? last : std::min(wanted, last);
  for (int64_t i = 0; i < train; ++i) shards.push_back(i);
  return shards;
}

class CorpusFetch {
 public:
  CorpusFetch(const CorpusEntry& entry, const std::string& folder, const FetchOptions& options)
      : entry_(entry),
        folder_(folder),
        options_(options),
        caller_(&options),
        shards_(ShardsOf(entry, options.shards)) {
    options_.progress = [this](const FetchProgress& progress) { Report(progress); };
    options_.stopped = [this] { return stop_ || Stopped(*caller_); };
  }

  Status Run() {
    std::vector<std::thread> workers;
    const auto count =
        std::clamp<int64_t>(options_.max_parallel, 1, static_cast<int64_t>(shards_.size()));
    for (int64_t i = 1; i < count; ++i) workers.emplace_back([this] { Work(); });
    Work();
    for (std::thread& worker : workers) worker.join();
    if (failure_.ok() && done_ < static_cast<int64_t>(shards_.size())) return Interrupted(folder_);
    return failure_;
  }

 private:
  void Work() {
    for (;;) {
      const size_t i = next_++;
      if (i >= shards_.size() || Stopped(options_)) return;
      if (Status status = FetchShard(shards_[i]); !status.ok()) Fail(std::move(status));
    }
  }

  Status FetchShard(int64_t shard) {
    const std::string name = entry_.FileNameOf(shard);
    const std::string path = folder_ + "/" + name;
    const KnownFile* known = entry_.Known(name);
    WT_RETURN_IF_ERROR(
        FetchFile(entry_.UrlOf(shard), path, known ? *known : KnownFile(), options_));
    if (name.ends_with(".parquet")) {
      if (Status opened = ParquetFile::Open(path).status(); !opened.ok()) {
        unlink(path.c_str());
        return opened.WithContext(fmt::format("what {} sent was thrown away", entry_.UrlOf(shard)));
      }
    }
    ++done_;
    Report({.file = name, .file_bytes = 0, .file_total = -1});
    return {};
  }

  void Report(FetchProgress progress) {
    progress.files_done = done_;
    progress.files = static_cast<int64_t>(shards_.size());
    const std::lock_guard lock(mutex_);
    if (caller_->progress) caller_->progress(progress);
  }

  void Fail(Status status) {
    stop_ = true;
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status.WithContext("corpus " + entry_.name);
  }

  const CorpusEntry& entry_;
  const std::string& folder_;
  FetchOptions options_;        // of the single files
  const FetchOptions* caller_;  // as given
  const std::vector<int64_t> shards_;
  std::atomic<size_t> next_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Status failure_;
};

}  // namespace

Status FetchFile(const std::string& url, const std::string& path, const KnownFile& known,
                 const FetchOptions& options) {
  if (Stopped(options)) return Interrupted(path);
  if (AlreadyThere(path, known)) return {};
  const std::string name = fs::path(path).filename();
  const auto moved = [&](int64_t bytes, int64_t total) {
    if (options.progress)
      options.progress({.file = name, .file_bytes = bytes, .file_total = total, .files = 1});
  };
  return FetchWithRetries(url, path, known, options, moved);
}

Status FetchCorpus(const CorpusEntry& entry, const std::string& folder,
                   const FetchOptions& options) {
  if (entry.url.empty()) {
    return Error(Code::kUnsupported, "corpus {} is built, not fetched; run {} {}", entry.name,
                 entry.builder, folder);
  }
  WT_RETURN_IF_ERROR(MakeFolders(folder));
  CorpusFetch fetch(entry, folder, options);
  return fetch.Run();
}

}  // namespace wt::text
