// Where a figure comes from and how good it is: the keys `source`, `evidence` and `note` that every
// row of data/chips and data/toolchains has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/toml_file.h"
#include "chip/cost.h"

namespace wt::chip {

struct Origin {
  std::string source;  // tags of the file's [sources]: "VOY, T2"
  Evidence evidence = Evidence::kGuessed;
  std::string note;
};

// The table [sources]: a tag, what it stands for.
class Sources {
 public:
  // Adds the file's table over what an inherited file said.
  Status Read(const toml::table& file);
  // Reads source, evidence and note of the row `id` and finishes the reader.
  Result<Origin> ReadOrigin(TableReader* reader, const std::string& id) const;
  const std::vector<std::pair<std::string, std::string>>& rows() const { return rows_; }

 private:
  Status Check(const std::string& id, const std::string& source) const;
  std::vector<std::pair<std::string, std::string>> rows_;
};

// Parses `path` and, first, the files it inherits from: base first. They stand in the same folder.
Result<std::vector<toml::table>> ReadInherited(const std::string& path, std::string* text);

// Index of `name` in `names`, or an error with the nearest: "NAME is not a KIND that …".
Result<size_t> FindName(const std::string& name, const std::vector<std::string>& names,
                        const std::string& kind);
// "…: expected a table such as { value = 1, source = …"
Status NotARow(const std::string& id);

}  // namespace wt::chip
