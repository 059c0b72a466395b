#include "base/files.h"

#include <fcntl.h>
#include <glob.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace wt {
namespace {

namespace fs = std::filesystem;

Status SystemError(const std::string& what, const std::string& path) {
  const int error = errno;
  const Code code = error == ENOENT                      ? Code::kNotFound
                    : error == ENOSPC || error == EDQUOT ? Code::kCapacity
                                                         : Code::kIo;
  const char* advice = code == Code::kCapacity ? "; free space there or choose another folder" : "";
  return Error(code, "cannot {} {}: {}{}", what, path, std::strerror(error), advice);
}

// Makes a rename or a new name in `path`'s folder durable.
void SyncFolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("open", path);
  std::string text;
  char buffer[1 << 16];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  const Status status = n < 0 ? SystemError("read", path) : Status();
  close(fd);
  if (!status.ok()) return status;
  return text;
}

Status WriteFileAtomic(const std::string& path, std::string_view bytes) {
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  WT_RETURN_IF_ERROR(file.Append(bytes));
  return file.Commit();
}

AtomicFile::AtomicFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  std::string temporary = path + ".tmp";
  const int fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError("create", temporary);
  return AtomicFile(fd, path, std::move(temporary));
}

Status AtomicFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("write", temporary_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status AtomicFile::WriteAt(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("write", temporary_);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Status AtomicFile::Commit() {
  if (fsync(fd_) != 0) return SystemError("sync", temporary_);
  if (close(std::exchange(fd_, -1)) != 0) return SystemError("close", temporary_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return SystemError("rename to", path_);
  SyncFolderOf(path_);
  return {};
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("open", path);
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return Error(Code::kIo, "cannot map {}: it is not a regular file", path);
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  const Status status = data == MAP_FAILED ? SystemError("map", path) : Status();
  close(fd);
  if (!status.ok()) return status;
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, size));
}

MappedFile::~MappedFile() {
  if (size_) munmap(data_, size_);
}

Result<std::vector<std::string>> ListFiles(const std::string& folder_or_glob) {
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(folder_or_glob, error)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_or_glob, error)) {
      if (entry.is_regular_file(error)) files.push_back(entry.path().string());
    }
    if (error) return Error(Code::kIo, "cannot list {}: {}", folder_or_glob, error.message());
  } else {
    glob_t found = {};
    if (glob(folder_or_glob.c_str(), 0, nullptr, &found) == 0) {
      files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
  }
  std::erase_if(files, [&](const std::string& f) { return !fs::is_regular_file(f, error); });
  if (files.empty()) {
    return Error(Code::kNotFound,
                 "{}: no file there; expected a file, a folder with files or a glob",
                 folder_or_glob);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error(Code::kIo, "cannot make folder {}: {}", path, error.message());
  return {};
}

bool FileExists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

namespace {

std::string HexDigest(std::string_view bytes, const EVP_MD* kind) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  WT_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &length, kind, nullptr) == 1,
           "{} is not available", EVP_MD_get0_name(kind));
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace

std::string Sha256(std::string_view bytes) { return HexDigest(bytes, EVP_sha256()); }

std::string GitBlobId(std::string_view bytes) {
  std::string object = fmt::format("blob {}", bytes.size());
  object += '\0';
  object += bytes;
  return HexDigest(object, EVP_sha1());
}

Result<std::string> Sha256OfFile(const std::string& path) {
  WT_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path));
  return Sha256(file->text());
}

}  // namespace wt
