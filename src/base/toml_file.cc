#include "base/toml_file.h"

#include <algorithm>
#include <sstream>

#include "base/text_util.h"

namespace wt {

Result<toml::table> ParseToml(std::string_view text, const std::string& source_name) {
  try {
    return toml::parse(text, source_name);
  } catch (const toml::parse_error& error) {
    return Error(Code::kInvalidArgument, "{}:{}: {}", source_name, error.source().begin.line,
                 error.description());
  }
}

namespace {

// "line 3: "; nothing for a value that did not come from a text.
std::string LineOf(const toml::source_region& source) {
  return source.begin.line ? fmt::format("line {}: ", source.begin.line) : "";
}

bool ReadPair(const toml::node& node, std::array<double, 2>* out) {
  const toml::array* array = node.as_array();
  if (!array || array->size() != 2) return false;
  for (size_t i = 0; i < 2; ++i) {
    const toml::node& item = *array->get(i);
    if (!item.is_number()) return false;
    (*out)[i] = *item.value<double>();
  }
  return true;
}

}  // namespace

const toml::node* TableReader::Find(const std::string& key) {
  known_.push_back(key);
  return table_ ? table_->get(key) : nullptr;
}

void TableReader::Fail(const std::string& key, const toml::node& node,
                       const std::string& expected) {
  if (!first_error_.ok()) return;
  std::ostringstream given;
  node.visit([&](const auto& value) { given << value; });
  first_error_ = Error(Code::kInvalidArgument, "{}{}.{} is {}; expected {}", LineOf(node.source()),
                       name_, key, given.str(), expected);
}

template <class T>
void TableReader::GetValue(const std::string& key, T* out, const char* expected) {
  const toml::node* node = Find(key);
  if (!node) return;
  const auto value = node->value<T>();
  if (value && node->is_boolean() == std::is_same_v<T, bool>) {  // 1 is no truth, true no number
    *out = *value;
  } else {
    Fail(key, *node, expected);
  }
}

template <class T>
void TableReader::GetArray(const std::string& key, std::vector<T>* out, const char* expected) {
  const toml::node* node = Find(key);
  if (!node) return;
  const toml::array* array = node->as_array();
  std::vector<T> values;
  for (size_t i = 0; array && i < array->size(); ++i) {
    if (const auto value = (*array)[i].value<T>()) values.push_back(*value);
  }
  if (!array || values.size() != array->size()) return Fail(key, *node, expected);
  *out = std::move(values);
}

void TableReader::Get(const std::string& key, bool* out) { GetValue(key, out, "true or false"); }
void TableReader::Get(const std::string& key, int64_t* out) {
  GetValue(key, out, "a whole number");
}
void TableReader::Get(const std::string& key, double* out) { GetValue(key, out, "a number"); }
void TableReader::Get(const std::string& key, std::string* out) { GetValue(key, out, "a string"); }

void TableReader::Get(const std::string& key, int* out) {
  int64_t wide = *out;
  GetValue(key, &wide, "a whole number");
  if (wide != static_cast<int>(wide)) Fail(key, *table_->get(key), "a whole number of 32 bits");
  *out = static_cast<int>(wide);
}

void TableReader::Get(const std::string& key, float* out) {
  double wide = static_cast<double>(*out);
  if (Has(key)) GetValue(key, &wide, "a number"), *out = static_cast<float>(wide);
  known_.push_back(key);
}

void TableReader::Get(const std::string& key, std::vector<double>* out) {
  GetArray(key, out, "a list of numbers");
}
void TableReader::Get(const std::string& key, std::vector<int64_t>* out) {
  GetArray(key, out, "a list of whole numbers");
}
void TableReader::Get(const std::string& key, std::vector<std::string>* out) {
  GetArray(key, out, "a list of strings");
}

void TableReader::GetSeconds(const std::string& key, double* out) {
  const toml::node* node = Find(key);
  if (!node) return;
  if (const auto number = node->value<double>(); number && node->is_number() && *number > 0) {
    *out = *number;
    return;
  }
  const auto text = node->value<std::string>();
  const Result<double> seconds = text ? ParseDuration(*text) : Result<double>(0.0);
  if (!text || !seconds.ok()) return Fail(key, *node, "a duration such as \"60s\" or \"30m\"");
  *out = *seconds;
}

void TableReader::GetSecondsOrNever(const std::string& key, double* out) {
  const toml::node* node = Find(key);
  if (!node) return;
  const auto number = node->value<double>();
  if (node->value<std::string>() == "never" || (node->is_number() && number == 0.0)) {
    *out = 0;
  } else {
    GetSeconds(key, out);
  }
}

void TableReader::Get(const std::string& key, std::array<double, 2>* out) {
  const toml::node* node = Find(key);
  std::array<double, 2> pair;
  if (!node) return;
  if (!ReadPair(*node, &pair)) return Fail(key, *node, "a list of two numbers");
  *out = pair;
}

void TableReader::Get(const std::string& key, std::vector<std::array<double, 2>>* out) {
  const toml::node* node = Find(key);
  if (!node) return;
  const toml::array* array = node->as_array();
  std::vector<std::array<double, 2>> pairs(array ? array->size() : 0);
  bool good = array != nullptr;
  for (size_t i = 0; good && i < pairs.size(); ++i) good = ReadPair(*array->get(i), &pairs[i]);
  if (!good) return Fail(key, *node, "a list of pairs of numbers, [[a, b], [c, d]]");
  *out = std::move(pairs);
}

void TableReader::GetChoice(const std::string& key, const std::vector<std::string>& names,
                            size_t* out) {
  const toml::node* node = Find(key);
  if (!node) return;
  const std::string given = node->value<std::string>().value_or("");
  const auto found = std::find(names.begin(), names.end(), given);
  if (found != names.end()) {
    *out = static_cast<size_t>(found - names.begin());
    return;
  }
  const std::string nearest = NearestName(given, names);
  Fail(key, *node,
       fmt::format("{}{}", Join(names, ", "),
                   nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

Status TableReader::Finish() const {
  if (!first_error_.ok() || !table_) return first_error_;
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string nearest = NearestName(name, known_);
    const std::string hint =
        nearest.empty() ? "" : fmt::format("; did you mean {}.{}?", name_, nearest);
    return Error(Code::kInvalidArgument, "{}{}.{} is not a known key{}", LineOf(key.source()),
                 name_, name, hint);
  }
  return {};
}

}  // namespace wt
