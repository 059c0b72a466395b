// The tasks of CORE: the list (data/core/core.toml), the bundle's files checked by hash, and the
// examples in the order in which they are asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::eval {

enum class CoreKind { kMultipleChoice, kSchema, kLanguageModeling };

struct CoreTask {
  std::string label;
  CoreKind kind = CoreKind::kMultipleChoice;
  int64_t shots = 0;
  std::string file;  // below eval_data/
  std::string git_blob;
  int64_t examples = 0;
  double baseline = 0;  // per cent
  std::string delimiter = " ";
};

Result<std::vector<CoreTask>> LoadCoreTasks(const std::string& home);

// `{}` fields are of the task's kind: query, choices, gold; context_options (as choices),
// continuation, gold; context (as query), continuation.
struct CoreExample {
  std::string query, continuation;
  std::vector<std::string> choices;
  int64_t gold = 0;
};

// The folder that holds eval_data/: `bundle` itself or its eval_bundle/.
Result<std::string> FindBundle(const std::string& bundle);

// The bytes of a task's file. kNotFound when it is not there, kMismatch when it is another file.
Result<std::string> ReadCoreFile(const std::string& bundle, const CoreTask& task);

// All examples in file order. kCorrupt names the line and the field.
Result<std::vector<CoreExample>> ParseCoreExamples(std::string_view jsonl, const CoreTask& task);

// Shuffled as Python's Random(1337) does, then cut to max_per_task where that is positive.
void OrderCoreExamples(int64_t max_per_task, std::vector<CoreExample>* examples);

}  // namespace wt::eval
