// The answers of a CORE evaluation as they come, in JSON lines: the first line says of what, each
// other one holds some answers of one task. An evaluation that was stopped goes on from here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eval/core_score.h"
#include "train/jsonl_file.h"

namespace wt::eval {

class CoreAnswers {
 public:
  // Without a path nothing is kept. `key` says what the answers depend on; a file with another key
  // is begun anew.
  static Result<CoreAnswers> Open(const std::string& path, const train::Json& key);

  // Null when the question has not been answered.
  const CoreAnswer* Find(const std::string& label, int64_t index) const;
  Status Add(const std::string& label, const std::vector<std::pair<int64_t, CoreAnswer>>& answers);

 private:
  void Take(const std::string& label, int64_t index, const CoreAnswer& answer) {
    known_[label][index] = answer;
  }
  std::map<std::string, std::map<int64_t, CoreAnswer>> known_;
  std::unique_ptr<train::JsonlFile> file_;
};

}  // namespace wt::eval
