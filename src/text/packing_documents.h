// RankDocuments: the documents one rank reads, in its order, each seen as BOS and then its ids.
// Between a token set and the two ways of cutting rows from it (packing.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "text/token_source.h"

namespace wt::text {

// Rank r of W reads row groups r, r + W, … of each file, files in order. A document is named by its
// ordinal in that sequence; a position counts tokens with BOS. Read-only, safe on several threads.
class RankDocuments {
 public:
  // Requires bos in the vocabulary and 0 <= rank < world. Fails when the rank gets no document.
  static Result<RankDocuments> Create(const TokenSet& set, int32_t bos, int rank, int world);

  int64_t documents() const { return documents_; }
  int64_t tokens() const { return tokens_; }  // with one BOS a document
  int32_t bos() const { return bos_; }

  int64_t Length(int64_t ordinal) const;  // with BOS, so at least 1
  // Tokens before a document; tokens() for ordinal == documents().
  int64_t Position(int64_t ordinal) const;
  // The document that holds a position in [0, tokens()).
  int64_t OrdinalAt(int64_t position) const;
  // One past the last document of the row group that `ordinal` is in.
  int64_t GroupEnd(int64_t ordinal) const;
  // Tokens [begin, begin + out.size()) of BOS + document, which must exist.
  void Copy(int64_t ordinal, int64_t begin, std::span<int32_t> out) const;
  // Tokens [position, position + out.size()) of all documents in a line, which must exist.
  void CopyStream(int64_t position, std::span<int32_t> out) const;

 private:
  struct Group {
    const TokenSource* source;
    int64_t first_document;  // in the source
    int64_t first_ordinal, first_position;
  };
  // The last group whose `member` is not above `value`.
  const Group& Find(int64_t Group::*member, int64_t value) const;
  void Add(const TokenSource& source, int64_t group);

  explicit RankDocuments(TokenSet set, int32_t bos) : set_(std::move(set)), bos_(bos) {}
  TokenSet set_;
  int32_t bos_;
  std::vector<Group> groups_;
  int64_t documents_ = 0, tokens_ = 0;
};

}  // namespace wt::text
