#include "text/fetch_part.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"

namespace wt::text {

Result<std::unique_ptr<PartFile>> PartFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Error(Code::kIo, "cannot create {}: {}", path, std::strerror(errno));
  std::unique_ptr<PartFile> part(new PartFile(path, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Error(Code::kIo, "{} is being fetched by another program; wait for it or stop it", path);
  }
  part->mine_ = true;
  struct stat info = {};
  if (fstat(fd, &info) == 0) part->size_ = info.st_size;
  return part;
}

PartFile::~PartFile() {
  if (size_ == 0 && mine_) unlink(path_.c_str());
  close(fd_);
}

Status PartFile::Clear() {
  size_ = 0;
  unlink(EtagPath().c_str());
  if (ftruncate(fd_, 0) == 0) return {};
  return Error(Code::kIo, "cannot shorten {}: {}", path_, std::strerror(errno));
}

Status PartFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), size_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const bool full = errno == ENOSPC || errno == EDQUOT;
      return Error(full ? Code::kCapacity : Code::kIo, "cannot write {}: {}{}", path_,
                   std::strerror(errno),
                   full ? "; free space there and fetch again, it continues" : "");
    }
    bytes.remove_prefix(static_cast<size_t>(n));
    size_ += n;
  }
  return {};
}

std::string PartFile::etag() const {
  auto text = ReadFile(EtagPath());
  return text.ok() ? *text : "";
}

void PartFile::SetEtag(const std::string& etag) {
  // Without it a resumed file is still checked by size; so failing to keep it is no failure.
  if (!etag.empty()) (void)WriteFileAtomic(EtagPath(), etag).ok();
}

Status PartFile::RenameTo(const std::string& path) {
  if (fsync(fd_) != 0 || rename(path_.c_str(), path.c_str()) != 0)
    return Error(Code::kIo, "cannot finish {}: {}", path, std::strerror(errno));
  mine_ = false;
  unlink(EtagPath().c_str());
  return {};
}

}  // namespace wt::text
