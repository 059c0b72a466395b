// Token ids in llm.c's .bin layout, for runs on shards that others tokenized: 256 int32 of header
// (magic, version, count), then the ids. GPT-2 style files hold uint16, Llama 3 style uint32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/files.h"
#include "base/status.h"

namespace wt::text {

// The ids as they lie in the mapped file; one of the two spans is empty. Copies share the mapping.
class TokenBin {
 public:
  // Fails, naming the file, on another magic or version, and when the file is not exactly as long
  // as its count makes it.
  static Result<TokenBin> Open(const std::string& path);

  int64_t size() const { return static_cast<int64_t>(wide() ? u32_.size() : u16_.size()); }
  // Requires 0 <= i < size().
  uint32_t operator[](int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return wide() ? u32_[at] : u16_[at];
  }
  bool wide() const { return wide_; }  // uint32 ids
  std::span<const uint16_t> u16() const { return u16_; }
  std::span<const uint32_t> u32() const { return u32_; }

  // kMismatch, with the place of the first one, when an id is not below `vocab_size`.
  Status CheckIds(int64_t vocab_size) const;

 private:
  std::shared_ptr<const MappedFile> file_;
  bool wide_ = false;
  std::span<const uint16_t> u16_;
  std::span<const uint32_t> u32_;
};

}  // namespace wt::text
