#include "train/rules.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/toml_file.h"
#include "train/run_source.h"

namespace wt::train {
namespace {

namespace fs = std::filesystem;

std::string NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

// A row `key = { value = …, source = …, evidence = … }`; absent rows leave `out` alone.
Status ReadRow(const toml::table& file, const std::string& key, double* out) {
  const toml::node* node = file.get(key);
  if (!node) return {};
  std::string source, evidence, note;
  TableReader row(node->as_table(), key);
  const bool complete = row.Has("value") && row.Has("source") && row.Has("evidence");
  row.Get("value", out);
  row.Get("source", &source);
  row.Get("evidence", &evidence);
  row.Get("note", &note);
  WT_RETURN_IF_ERROR(row.Finish());
  if (!complete || !(*out >= 0)) {
    return Error(Code::kInvalidArgument,
                 "{}: expected {{ value = a number from 0, source = \"…\", evidence = \"…\" }}",
                 key);
  }
  return {};
}

Result<Rules> ParseRules(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, path));
  Rules rules;
  double free_steps = 0;
  WT_RETURN_IF_ERROR(ReadRow(file, "budget_s", &rules.budget).WithContext(path));
  WT_RETURN_IF_ERROR(ReadRow(file, "free_steps", &free_steps).WithContext(path));
  WT_RETURN_IF_ERROR(ReadRow(file, "startup_cap_s", &rules.startup_cap).WithContext(path));
  rules.free_steps = static_cast<int64_t>(free_steps);
  return rules;
}

}  // namespace

Result<Rules> Rules::Load(const std::string& name) {
  const std::string folder = FindPlaces().home + "/data/contests";
  const std::string path = fmt::format("{}/{}.toml", folder, name);
  const bool plain = name.find('/') == std::string::npos;
  if (!plain || !FileExists(path)) {
    return Error(Code::kNotFound, "no rules '{}'; there are: {}", name, NamesIn(folder));
  }
  WT_ASSIGN_OR_RETURN(Rules rules, ParseRules(path));
  rules.name = name;
  return rules;
}

Result<Rules> RulesOf(const Recipe& recipe) {
  if (recipe.clock.rules.empty()) return Rules();
  WT_ASSIGN_OR_RETURN(Rules rules, Rules::Load(recipe.clock.rules));
  if (rules.budget > 0 && recipe.train.budget > rules.budget) {
    return Error(Code::kInvalidArgument, "train.budget is {} s; the rules {} allow {} s",
                 recipe.train.budget, rules.name, rules.budget);
  }
  return rules;
}

void Account::Add(ChargeReason reason, double total) {
  last_[static_cast<size_t>(reason)] = total;
  if (reason == ChargeReason::kStep && ++steps_ == rules_.free_steps) startup_ = total;
}

double Account::Counted(double total) const {
  const bool starting = steps_ < rules_.free_steps;
  const double startup = starting ? total : startup_;
  return std::max(0.0, startup - rules_.startup_cap) + (total - startup);
}

}  // namespace wt::train
