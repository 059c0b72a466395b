// Reading TOML: a parse that reports file and line, and TableReader, which turns every unknown or
// misspelt key into an error that names the nearest one.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt {

Result<toml::table> ParseToml(std::string_view text, const std::string& source_name);

// Reads one table key by key. Get() leaves `out` untouched when the key is absent, so that the
// caller's default holds; the first wrong type is remembered and reported by Finish(), as is any
// key that no Get() asked for. Arrays of numbers and of strings are read as std::vector.
class TableReader {
 public:
  // `table` may be null (an absent table); it must outlive the reader. `name` is for messages:
  // "model".
  TableReader(const toml::table* table, std::string name) : table_(table), name_(std::move(name)) {}

  bool Has(const std::string& key) const { return table_ && table_->contains(key); }
  void Get(const std::string& key, bool* out);
  void Get(const std::string& key, int64_t* out);
  void Get(const std::string& key, int* out);
  void Get(const std::string& key, double* out);
  void Get(const std::string& key, float* out);
  void Get(const std::string& key, std::string* out);
  void Get(const std::string& key, std::vector<double>* out);
  void Get(const std::string& key, std::vector<int64_t>* out);
  void Get(const std::string& key, std::vector<std::string>* out);
  void Get(const std::string& key, std::array<double, 2>* out);
  void Get(const std::string& key, std::vector<std::array<double, 2>>* out);
  // A duration such as "60s", or a number of seconds.
  void GetSeconds(const std::string& key, double* out);
  // The same, where "never" and 0 are read as 0.
  void GetSecondsOrNever(const std::string& key, double* out);
  // One of `names`; gives its index.
  void GetChoice(const std::string& key, const std::vector<std::string>& names, size_t* out);

  // The first problem met, or an unknown key with its nearest known name.
  Status Finish() const;

 private:
  const toml::node* Find(const std::string& key);
  void Fail(const std::string& key, const toml::node& node, const std::string& expected);
  template <class T>
  void GetValue(const std::string& key, T* out, const char* expected);
  template <class T>
  void GetArray(const std::string& key, std::vector<T>* out, const char* expected);

  const toml::table* table_;
  std::string name_;
  std::vector<std::string> known_;
  Status first_error_;
};

}  // namespace wt
