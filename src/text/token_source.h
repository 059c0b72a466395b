// TokenSource: one file of tokenised documents as the loaders see it, whatever its format;
// TokenSet: several of them in order. A source has documents (without BOS; loaders add it) in row
// groups, the unit by which ranks share a corpus. After tokenisation, before packing into rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace wt::text {

// Read-only and safe to use from several threads at once.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  virtual const std::string& name() const = 0;            // the file, for messages
  virtual int64_t vocab_size() const = 0;                 // every id is in [0, vocab_size)
  virtual const std::string& tokenizer_hash() const = 0;  // 64 hex digits, or "" when not recorded
  virtual int64_t raw_bytes() const = 0;                  // of the text; -1 when not recorded

  virtual int64_t documents() const = 0;
  virtual int64_t row_groups() const = 0;
  // The first document of a row group; documents() for group == row_groups(). No group is empty.
  virtual int64_t GroupStart(int64_t group) const = 0;
  // Tokens (without BOS) before a document; all tokens for document == documents().
  virtual int64_t DocumentStart(int64_t document) const = 0;
  // Writes the document's tokens [begin, begin + out.size()), which must exist.
  virtual void Copy(int64_t document, int64_t begin, std::span<int32_t> out) const = 0;

  int64_t tokens() const { return DocumentStart(documents()); }
  int64_t Length(int64_t document) const {
    return DocumentStart(document + 1) - DocumentStart(document);
  }
};

// A bare stream of ids (llm.c's .bin files) whose documents are told apart by a separator id alone.
struct SeparatedTokens {
  std::string name;
  std::shared_ptr<const void> owner;  // keeps `ids` alive: a mapped file, say
  std::variant<std::span<const uint16_t>, std::span<const uint32_t>> ids;
  int32_t separator = 0;  // BOS or end-of-text
  int64_t vocab_size = 0;
  std::string tokenizer_hash;
  int64_t group_documents = 1024;
};

// Documents are what stands between separators, which belong to none of them. Text before the first
// separator is a document; nothing after the last one is not, so files that open documents with the
// separator and files that close them read alike. Fails on ids outside the vocabulary.
Result<std::shared_ptr<const TokenSource>> MakeSeparatedSource(SeparatedTokens stream);

// Files in order. Cheap to copy: the sources are shared.
class TokenSet {
 public:
  // Requires sources of one vocabulary and, where recorded, one tokenizer.
  static Result<TokenSet> Create(std::vector<std::shared_ptr<const TokenSource>> sources);
  // Opens token files (docs/formats/tokens.md) in the order given. A `tokenizer_hash` that is not
  // "" must be theirs.
  static Result<TokenSet> Open(const std::vector<std::string>& paths,
                               std::string_view tokenizer_hash = {});

  std::span<const std::shared_ptr<const TokenSource>> sources() const { return sources_; }
  int64_t vocab_size() const { return sources_.front()->vocab_size(); }
  const std::string& tokenizer_hash() const { return sources_.front()->tokenizer_hash(); }
  int64_t documents() const;
  int64_t row_groups() const;
  int64_t tokens() const;     // without BOS
  int64_t raw_bytes() const;  // -1 when a source did not record it

 private:
  explicit TokenSet(std::vector<std::shared_ptr<const TokenSource>> sources)
      : sources_(std::move(sources)) {}
  std::vector<std::shared_ptr<const TokenSource>> sources_;
};

// Index of the first id that is >= limit, or -1. Reads every id, on all threads.
int64_t FirstAtLeast(std::span<const uint16_t> ids, int64_t limit);
int64_t FirstAtLeast(std::span<const uint32_t> ids, int64_t limit);

}  // namespace wt::text
