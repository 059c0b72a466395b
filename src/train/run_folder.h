// RunFolder: where everything a run leaves behind lies, and the lock that keeps two processes from
// writing there at once.
//
//   recipe.toml   the complete recipe          log.jsonl     what happened (docs/formats/log.md)
//   ledger.jsonl  what was charged             checkpoint/   the last checkpoint
//   result.json   the score, at the end        events.out.tfevents.*   for TensorBoard
#pragma once

#include <string>

#include "base/status.h"
#include "train/recipe.h"

namespace wt::train {

class RunFolder {
 public:
  // Makes the folder, locks it and writes recipe.toml. Fails with kInvalidArgument when a run is
  // there already: nothing saved is ever overwritten.
  static Result<RunFolder> Create(const std::string& path, const Recipe& recipe);
  // Locks a run that is there, to resume it. Fails with kNotFound when there is none.
  static Result<RunFolder> Open(const std::string& path);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const std::string& path() const { return path_; }
  std::string recipe_path() const { return path_ + "/recipe.toml"; }
  std::string ledger_path() const { return path_ + "/ledger.jsonl"; }
  std::string log_path() const { return path_ + "/log.jsonl"; }
  std::string result_path() const { return path_ + "/result.json"; }

 private:
  RunFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  static Result<RunFolder> Lock(const std::string& path);
  std::string path_;
  int lock_;  // gone with the process, however that ends
};

}  // namespace wt::train
