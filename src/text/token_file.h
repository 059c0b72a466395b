// Token files: a tokenised corpus on disk, written once by the tokenising step and memory-mapped by
// every loader after it. One file is header, token ids, document index and row-group index; the
// layout is docs/formats/tokens.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/status.h"
#include "text/token_source.h"

namespace wt::text {

struct TokenFileInfo {
  int64_t vocab_size = 0;          // at most 65,536 are stored in 2 bytes a token, more in 4
  std::string tokenizer_hash;      // 64 hexadecimal digits
  int64_t group_documents = 1024;  // documents in a row group; 0: only EndRowGroup() ends one
};

// The file appears at `path` when Finish() succeeds; a writer that is dropped leaves nothing.
class TokenFileWriter {
 public:
  static Result<TokenFileWriter> Create(const std::string& path, const TokenFileInfo& info);

  // Appends one document's ids, without BOS. `raw_bytes` is the length of its text.
  // After any failure the writer can only be dropped.
  Status AddDocument(std::span<const int32_t> ids, int64_t raw_bytes);
  // Ends the row group; nothing to do when it has no documents yet.
  void EndRowGroup();
  // Requires that it was not called before.
  Status Finish();

 private:
  TokenFileWriter(AtomicFile file, TokenFileInfo info);
  Status CheckIds(std::span<const int32_t> ids) const;
  Status Flush();

  AtomicFile file_;
  TokenFileInfo info_;
  int64_t token_bytes_;
  std::string buffer_;  // ids in the file's width, not written yet
  std::vector<uint64_t> document_starts_{0}, group_starts_{0};
  int64_t raw_bytes_ = 0;
  uint32_t tokens_crc_ = 0;
};

class TokenFile final : public TokenSource {
 public:
  // Maps and validates everything but the checksum of the ids: sizes, header and index checksums,
  // both indexes, and that each id is in the vocabulary (one pass over the ids). A `tokenizer_hash`
  // that is not "" must be the file's.
  static Result<std::shared_ptr<const TokenFile>> Open(const std::string& path,
                                                       std::string_view tokenizer_hash = {});

  const std::string& name() const override { return file_->path(); }
  int64_t vocab_size() const override { return vocab_size_; }
  const std::string& tokenizer_hash() const override { return tokenizer_hash_; }
  int64_t raw_bytes() const override { return raw_bytes_; }
  int64_t documents() const override { return static_cast<int64_t>(document_starts_.size()) - 1; }
  int64_t row_groups() const override { return static_cast<int64_t>(group_starts_.size()) - 1; }
  int64_t GroupStart(int64_t group) const override {
    return static_cast<int64_t>(group_starts_[group]);
  }
  int64_t DocumentStart(int64_t document) const override {
    return static_cast<int64_t>(document_starts_[document]);
  }
  void Copy(int64_t document, int64_t begin, std::span<int32_t> out) const override;

  int64_t token_bytes() const { return narrow_.data() ? 2 : 4; }
  // Compares the ids with their checksum; kCorrupt when a bit has changed since they were written.
  Status VerifyTokens() const;

 private:
  TokenFile() = default;
  Status ReadHeader();
  Status CheckIndex() const;
  Status CheckIds() const;
  std::string_view TokenText() const;

  std::shared_ptr<const MappedFile> file_;
  int64_t vocab_size_ = 0, raw_bytes_ = 0;
  std::string tokenizer_hash_;
  uint32_t tokens_crc_ = 0, index_crc_ = 0;
  std::span<const uint16_t> narrow_;  // ids, when 2 bytes wide
  std::span<const uint32_t> wide_;    // ids, when 4 bytes wide
  std::span<const uint64_t> document_starts_, group_starts_;
};

}  // namespace wt::text
