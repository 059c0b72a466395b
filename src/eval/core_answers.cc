#include "eval/core_answers.h"

#include <algorithm>

namespace wt::eval {

Result<CoreAnswers> CoreAnswers::Open(const std::string& path, const train::Json& key) {
  CoreAnswers answers;
  if (path.empty()) return answers;
  std::vector<train::Json> rows;
  WT_ASSIGN_OR_RETURN(train::JsonlFile file, train::JsonlFile::Open(path, &rows));
  answers.file_ = std::make_unique<train::JsonlFile>(std::move(file));
  if (rows.empty() || rows[0] != key) {
    WT_RETURN_IF_ERROR(answers.file_->Truncate(0));
    WT_RETURN_IF_ERROR(answers.file_->Append(key));
    return answers;
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto label = rows[i].value("task", std::string());
    const auto index = rows[i].value("index", std::vector<int64_t>());
    const auto chosen = rows[i].value("chosen", std::vector<int64_t>());
    const auto right = rows[i].value("right", std::vector<bool>());
    for (size_t k = 0; k < std::min({index.size(), chosen.size(), right.size()}); ++k) {
      answers.Take(label, index[k], {chosen[k], right[k]});
    }
  }
  return answers;
}

const CoreAnswer* CoreAnswers::Find(const std::string& label, int64_t index) const {
  const auto task = known_.find(label);
  if (task == known_.end()) return nullptr;
  const auto found = task->second.find(index);
  return found == task->second.end() ? nullptr : &found->second;
}

Status CoreAnswers::Add(const std::string& label,
                        const std::vector<std::pair<int64_t, CoreAnswer>>& answers) {
  std::vector<int64_t> index, chosen;
  std::vector<bool> right;
  for (const auto& [i, answer] : answers) {
    Take(label, i, answer);
    index.push_back(i);
    chosen.push_back(answer.chosen);
    right.push_back(answer.right);
  }
  if (!file_) return {};
  return file_->Append({{"task", label}, {"index", index}, {"chosen", chosen}, {"right", right}});
}

}  // namespace wt::eval
