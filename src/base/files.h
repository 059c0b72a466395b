// Files: whole reads, atomic writes, memory maps, listings and content hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt {

Result<std::string> ReadFile(const std::string& path);

// Writes PATH.tmp in the same folder, syncs it and renames it over `path`: a reader sees the old
// file or the new one, never a part. On failure (a full disk, say) the old file is untouched.
Status WriteFileAtomic(const std::string& path, std::string_view bytes);

// The same for a file that is produced piece by piece; Commit() makes it visible, the destructor
// removes what was not committed.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status Append(std::string_view bytes);
  Status Append(const void* data, size_t bytes) {
    return Append(std::string_view(static_cast<const char*>(data), bytes));
  }
  // Overwrites bytes already appended; for headers known only at the end.
  Status WriteAt(uint64_t offset, std::string_view bytes);
  Status Commit();

 private:
  AtomicFile(int fd, std::string path, std::string temporary);
  int fd_;
  std::string path_, temporary_;
};

// A read-only mapping of a whole file. An empty file maps to an empty span.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(std::string path, void* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  void* data_;
  size_t size_;
};

// Files under a folder, or that match a glob (`*`, `?`, `[…]`), or the one file named; sorted by
// name.
Result<std::vector<std::string>> ListFiles(const std::string& folder_or_glob);

Status MakeFolders(const std::string& path);
bool FileExists(const std::string& path);

// Hexadecimal SHA-256.
std::string Sha256(std::string_view bytes);
Result<std::string> Sha256OfFile(const std::string& path);
// The id under which git stores a file of these bytes: what `git hash-object FILE` prints.
std::string GitBlobId(std::string_view bytes);

}  // namespace wt
