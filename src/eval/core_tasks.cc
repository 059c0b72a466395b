#include "eval/core_tasks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/python_random.h"
#include "base/text_util.h"
#include "base/toml_file.h"

namespace wt::eval {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kShuffleSeed = 1337;

Result<CoreTask> ReadTask(const toml::table* table) {
  TableReader reader(table, "tasks");
  CoreTask task;
  size_t kind = 0;
  reader.Get("label", &task.label);
  reader.GetChoice("kind", {"multiple_choice", "schema", "language_modeling"}, &kind);
  reader.Get("shots", &task.shots);
  reader.Get("file", &task.file);
  reader.Get("git_blob", &task.git_blob);
  reader.Get("examples", &task.examples);
  reader.Get("baseline", &task.baseline);
  reader.Get("delimiter", &task.delimiter);
  WT_RETURN_IF_ERROR(reader.Finish());
  task.kind = static_cast<CoreKind>(kind);
  return task;
}

// Takes fields of one line, remembering the first that is wrong.
class Fields {
 public:
  explicit Fields(const Json& line) : line_(line) {}

  std::string Text(const char* key) {
    const Json* field = Find(key, "text", [](const Json& j) { return j.is_string(); });
    return field ? field->get<std::string>() : "";
  }
  std::vector<std::string> Texts(const char* key) {
    const auto texts = [](const Json& j) {
      return j.is_array() && !j.empty() &&
             std::all_of(j.begin(), j.end(), [](const Json& item) { return item.is_string(); });
    };
    const Json* field = Find(key, "a list of texts", texts);
    return field ? field->get<std::vector<std::string>>() : std::vector<std::string>{};
  }
  int64_t Index(const char* key, size_t size) {
    const auto index = [size](const Json& j) {
      return j.is_number_unsigned() && j.get<uint64_t>() < size;
    };
    const Json* field = Find(key, "the index of a choice", index);
    return field ? field->get<int64_t>() : 0;
  }
  const std::string& problem() const { return problem_; }

 private:
  template <class Test>
  const Json* Find(const char* key, const char* expected, const Test& fits) {
    const auto found = line_.find(key);
    if (found != line_.end() && fits(*found)) return &*found;
    if (problem_.empty()) problem_ = fmt::format("'{}' is not {}", key, expected);
    return nullptr;
  }

  const Json& line_;
  std::string problem_;
};

Result<CoreExample> ParseExample(std::string_view line, CoreKind kind) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error(Code::kCorrupt, "not a JSON object");
  Fields fields(json);
  CoreExample example;
  if (kind == CoreKind::kMultipleChoice) {
    example.query = fields.Text("query");
    example.choices = fields.Texts("choices");
  } else if (kind == CoreKind::kSchema) {
    example.choices = fields.Texts("context_options");
    example.continuation = fields.Text("continuation");
  } else {
    example.query = fields.Text("context");
    example.continuation = fields.Text("continuation");
  }
  if (kind != CoreKind::kLanguageModeling) {
    example.gold = fields.Index("gold", example.choices.size());
  }
  if (!fields.problem().empty()) return Error(Code::kCorrupt, "{}", fields.problem());
  return example;
}

}  // namespace

Result<std::vector<CoreTask>> LoadCoreTasks(const std::string& home) {
  const std::string path = home + "/data/core/core.toml";
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(const toml::table root, ParseToml(text, path));
  std::vector<CoreTask> tasks;
  if (const toml::array* rows = root["tasks"].as_array()) {
    for (const toml::node& row : *rows) {
      Result<CoreTask> task = ReadTask(row.as_table());
      if (!task.ok()) return task.status().WithContext(path);
      tasks.push_back(std::move(*task));
    }
  }
  if (tasks.empty()) return Error(Code::kCorrupt, "{}: no [[tasks]]", path);
  return tasks;
}

Result<std::string> FindBundle(const std::string& bundle) {
  for (const std::string& folder : {bundle, bundle + "/eval_bundle"}) {
    if (FileExists(folder + "/eval_data")) return folder;
  }
  return Error(
      Code::kNotFound,
      "{}: no eval_data/ in it; expected nanochat's eval_bundle folder or the one above it",
      bundle);
}

Result<std::string> ReadCoreFile(const std::string& bundle, const CoreTask& task) {
  const std::string path = bundle + "/eval_data/" + task.file;
  if (!FileExists(path)) return Error(Code::kNotFound, "{} is not in the bundle", task.file);
  WT_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (const std::string id = GitBlobId(text); id != task.git_blob) {
    return Error(Code::kMismatch, "{} is another file: git hash-object gives {}…, expected {}…",
                 task.file, id.substr(0, 12), task.git_blob.substr(0, 12));
  }
  return text;
}

Result<std::vector<CoreExample>> ParseCoreExamples(std::string_view jsonl, const CoreTask& task) {
  std::vector<CoreExample> examples;
  int64_t number = 0;
  for (const std::string& line : SplitText(jsonl, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<CoreExample> example = ParseExample(line, task.kind);
    if (!example.ok()) {
      return example.status().WithContext(fmt::format("{}, line {}", task.file, number));
    }
    examples.push_back(std::move(*example));
  }
  if (examples.empty()) return Error(Code::kCorrupt, "{}: no examples", task.file);
  return examples;
}

void OrderCoreExamples(int64_t max_per_task, std::vector<CoreExample>* examples) {
  PythonRandom(kShuffleSeed).Shuffle(examples);
  if (max_per_task > 0 && max_per_task < static_cast<int64_t>(examples->size())) {
    examples->resize(static_cast<size_t>(max_per_task));
  }
}

}  // namespace wt::eval
