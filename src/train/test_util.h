// For the tests of this room: a folder that is removed again, a full disk, a clock that stands
// still.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "train/clock.h"

namespace wt::train {

class TempFolder {
 public:
  // In memory where there is /dev/shm: these tests sync often, and a disk takes its time for it.
  TempFolder() {
    const bool memory = access("/dev/shm", W_OK | X_OK) == 0;
    const std::filesystem::path parent =
        memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (parent / "wt_train_XXXXXX").string();
    WT_CHECK(mkdtemp(name.data()) != nullptr, "no temporary folder at {}", name);
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// While it lives, no file of this process grows over `bytes`: a full disk, as far as write() tells.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(size_t bytes) {
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit old_ = {};
  void (*signal_)(int) = nullptr;
};

// Time passes only when a test adds to `now`.
struct FakeTime {
  double now = 1000;
  TimeSource source() {
    return {[this] { return now; }, [] { return std::string("2026-01-01T00:00:00.000Z"); }};
  }
};

}  // namespace wt::train
