// The file that grows while it is fetched: PATH.part, and beside it PATH.part.etag with what tells
// its version apart. Between the requests of fetch_request.h and the finished file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace wt::text {

// Holds a lock, so that two programs never share one. An empty one is removed when it is closed.
class PartFile {
 public:
  static Result<std::unique_ptr<PartFile>> Open(const std::string& path);
  ~PartFile();
  PartFile(const PartFile&) = delete;

  int64_t size() const { return size_; }
  Status Append(std::string_view bytes);
  Status Clear();  // its version is forgotten too

  // The ETag of the version that this is a part of; "" when not known.
  std::string etag() const;
  void SetEtag(const std::string& etag);

  // Makes it durable and gives it its name.
  Status RenameTo(const std::string& path);

 private:
  PartFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string EtagPath() const { return path_ + ".etag"; }

  std::string path_;
  int fd_;
  int64_t size_ = 0;
  bool mine_ = false;  // locked, and not yet renamed
};

}  // namespace wt::text
