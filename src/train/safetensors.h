// Safetensors: the file format of weights that other programs read too. Eight bytes of header
// length, a JSON header of names, dtypes, shapes and places, then the bare numbers, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/files.h"
#include "base/status.h"

namespace wt::train {

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // empty for a scalar

  // Of the tensor's data. Requires a shape that fits int64.
  int64_t bytes() const;
};
std::string ShapeText(const std::vector<int64_t>& shape);  // "[8192, 640]"

using Metadata = std::map<std::string, std::string>;

// Writes one file tensor by tensor; nothing is visible before Commit(), and without it nothing is
// left behind.
class SafetensorsWriter {
 public:
  // Fails with kInvalidArgument on a name given twice.
  static Result<SafetensorsWriter> Create(const std::string& path, std::vector<TensorInfo> tensors,
                                          const Metadata& metadata = {});
  // The order in which data must be appended: that of Create's list, larger elements first so that
  // all data is aligned.
  const std::vector<TensorInfo>& order() const { return order_; }
  // Bytes of the next tensor, whole or in pieces.
  Status Append(const void* data, size_t bytes);
  // Requires all data appended.
  Status Commit();
  uint32_t crc32c() const { return crc_; }  // of all bytes written
  uint64_t bytes() const { return written_; }

 private:
  SafetensorsWriter(AtomicFile file, std::vector<TensorInfo> order)
      : file_(std::move(file)), order_(std::move(order)) {}
  AtomicFile file_;
  std::vector<TensorInfo> order_;
  uint64_t written_ = 0, expected_ = 0;
  uint32_t crc_ = 0;
};

struct SafetensorsTensor {
  TensorInfo info;
  std::span<const std::byte> data;  // inside the bytes that were parsed
};

struct SafetensorsIndex {
  Metadata metadata;
  std::vector<SafetensorsTensor> tensors;  // in the order of the data
};

// Checks every word of a file's header: the spans lie inside `bytes`, have the size that dtype and
// shape ask for, and tile the data without gap or overlap. Fails with kCorrupt, naming the tensor,
// on anything the format forbids, and with kUnsupported on a dtype this program has no type for.
Result<SafetensorsIndex> ParseSafetensors(std::string_view bytes);

// A mapped file that passed ParseSafetensors; its spans live as long as it or a copy of it.
class SafetensorsFile {
 public:
  using Tensor = SafetensorsTensor;
  static Result<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const Metadata& metadata() const { return index_.metadata; }
  const std::vector<Tensor>& tensors() const { return index_.tensors; }
  // Null when there is none of that name.
  const Tensor* Find(const std::string& name) const;
  uint32_t Crc32cOfFile() const;

 private:
  SafetensorsFile(std::shared_ptr<const MappedFile> file, SafetensorsIndex index);

  std::shared_ptr<const MappedFile> file_;
  SafetensorsIndex index_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace wt::train
