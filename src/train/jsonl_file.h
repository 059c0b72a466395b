// An append-only file of JSON lines that survives kill -9: the ledger and the run log stand on it.
// Each Append is one write(), so that a killed process leaves whole lines and at most one torn one
// at the end, which Open cuts off.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace wt::train {

using Json = nlohmann::ordered_json;  // fields stay in the order they were written

class JsonlFile {
 public:
  // Opens or creates `path` and gives the rows already there. Fails with kCorrupt, naming the line,
  // when one that is not the last is not a JSON object; nothing is changed then.
  static Result<JsonlFile> Open(const std::string& path, std::vector<Json>* rows);
  JsonlFile(JsonlFile&& other) noexcept;
  JsonlFile& operator=(JsonlFile&&) = delete;
  ~JsonlFile();

  // On failure (a full disk, say) the file ends with the last whole row.
  Status Append(const Json& row);
  // Keeps the first `rows` rows. Requires rows <= the number of rows.
  Status Truncate(size_t rows);
  Status Sync();

 private:
  JsonlFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status Fail(const char* what) const;

  int fd_;
  std::string path_;
  std::vector<size_t> ends_;  // bytes up to and with the i-th row
};

// Reads the rows of such a file and leaves it as it is; a torn last line is left out.
Result<std::vector<Json>> ReadJsonl(const std::string& path);

}  // namespace wt::train
