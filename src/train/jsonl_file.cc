#include "train/jsonl_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"

namespace wt::train {
namespace {

struct Lines {
  std::vector<Json> rows;
  std::vector<size_t> ends;
};

// Whole lines of `text`; what follows the last newline, or a last line that is no JSON, is torn.
Result<Lines> ParseLines(const std::string& text, const std::string& path) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = text.find('\n', begin);
    if (newline == std::string::npos) break;
    Json row = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                           text.begin() + static_cast<std::ptrdiff_t>(newline), nullptr, false);
    const bool last = newline + 1 == text.size();
    if (!row.is_object() && last) break;
    if (!row.is_object()) {
      return Error(
          Code::kCorrupt,
          "{}:{}: not a JSON object; expected one on every line. Restore the file or start "
          "in a new run folder",
          path, lines.rows.size() + 1);
    }
    lines.rows.push_back(std::move(row));
    lines.ends.push_back(newline + 1);
    begin = newline + 1;
  }
  return lines;
}

}  // namespace

Result<JsonlFile> JsonlFile::Open(const std::string& path, std::vector<Json>* rows) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  JsonlFile file(fd, path);
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0) return file.Fail("open");
  if (!S_ISREG(info.st_mode)) return Error(Code::kIo, "{} is not a regular file", path);
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(Lines lines, ParseLines(text, path));
  file.ends_ = std::move(lines.ends);
  *rows = std::move(lines.rows);
  const size_t end = file.ends_.empty() ? 0 : file.ends_.back();
  if (end < text.size()) WT_RETURN_IF_ERROR(file.Truncate(file.ends_.size()));
  return file;
}

JsonlFile::JsonlFile(JsonlFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      ends_(std::move(other.ends_)) {}

JsonlFile::~JsonlFile() {
  if (fd_ >= 0) close(fd_);
}

Status JsonlFile::Fail(const char* what) const {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT;
  return Error(full ? Code::kCapacity : Code::kIo, "cannot {} {}: {}{}", what, path_,
               std::strerror(error), full ? "; free space there or choose another folder" : "");
}

Status JsonlFile::Append(const Json& row) {
  // Invalid UTF-8 in a message must not stop a run: it is replaced.
  const std::string line = row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const size_t end = ends_.empty() ? 0 : ends_.back();
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const Status status = Fail("append to");
      if (ftruncate(fd_, static_cast<off_t>(end)) != 0) return Fail("cut");
      return status;
    }
    done += static_cast<size_t>(n);
  }
  ends_.push_back(end + line.size());
  return {};
}

Status JsonlFile::Truncate(size_t rows) {
  WT_CHECK(rows <= ends_.size(), "{} rows kept of {}", rows, ends_.size());
  ends_.resize(rows);
  const size_t end = ends_.empty() ? 0 : ends_.back();
  return ftruncate(fd_, static_cast<off_t>(end)) == 0 ? Status() : Fail("cut");
}

Status JsonlFile::Sync() { return fdatasync(fd_) == 0 ? Status() : Fail("sync"); }

Result<std::vector<Json>> ReadJsonl(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(Lines lines, ParseLines(text, path));
  return std::move(lines.rows);
}

}  // namespace wt::train
