#include "text/token_source.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "text/token_file.h"

namespace wt::text {
namespace {

template <class Id>
int64_t FirstAtLeastOf(std::span<const Id> ids, int64_t limit) {
  if (limit > std::numeric_limits<Id>::max()) return -1;
  constexpr int64_t kGrain = 1 << 20;
  const int64_t n = static_cast<int64_t>(ids.size());
  std::vector<Id> largest(static_cast<size_t>((n + kGrain - 1) / kGrain));
  ParallelRanges(n, kGrain, [&](int64_t begin, int64_t end) {
    Id top = 0;
    for (int64_t i = begin; i < end; ++i) top = std::max(top, ids[i]);
    largest[begin / kGrain] = top;
  });
  const auto bad = [limit](Id id) { return static_cast<int64_t>(id) >= limit; };
  const int64_t chunk = std::find_if(largest.begin(), largest.end(), bad) - largest.begin();
  const auto from = ids.begin() + std::min(n, chunk * kGrain);
  const auto found = std::find_if(from, ids.end(), bad);
  return found == ids.end() ? -1 : found - ids.begin();
}

class SeparatedSource final : public TokenSource {
 public:
  explicit SeparatedSource(SeparatedTokens stream) : stream_(std::move(stream)) {
    std::visit([this](auto ids) { FindDocuments(ids); }, stream_.ids);
  }

  const std::string& name() const override { return stream_.name; }
  int64_t vocab_size() const override { return stream_.vocab_size; }
  const std::string& tokenizer_hash() const override { return stream_.tokenizer_hash; }
  int64_t raw_bytes() const override { return -1; }
  int64_t documents() const override { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t row_groups() const override {
    return (documents() + stream_.group_documents - 1) / stream_.group_documents;
  }
  int64_t GroupStart(int64_t group) const override {
    return std::min(documents(), group * stream_.group_documents);
  }
  int64_t DocumentStart(int64_t document) const override {
    return starts_[document] - starts_[0] - document;  // one separator between neighbours
  }
  void Copy(int64_t document, int64_t begin, std::span<int32_t> out) const override {
    const int64_t from = starts_[document] + begin;
    std::visit([&](auto ids) { std::copy_n(ids.begin() + from, out.size(), out.begin()); },
               stream_.ids);
  }

 private:
  template <class Id>
  void FindDocuments(std::span<const Id> ids) {
    const Id separator = static_cast<Id>(stream_.separator);
    const int64_t n = static_cast<int64_t>(ids.size());
    if (n > 0 && ids[0] != separator) starts_.push_back(0);
    for (int64_t i = 0; i < n; ++i) {
      if (ids[i] == separator) starts_.push_back(i + 1);
    }
    // The last start closes the last document, as if one more separator stood at the end.
    if (starts_.empty() || starts_.back() != n) starts_.push_back(n + 1);
  }

  SeparatedTokens stream_;
  std::vector<int64_t> starts_;  // [documents + 1]
};

Status CheckSame(const TokenSource& first, const TokenSource& other) {
  if (first.vocab_size() != other.vocab_size()) {
    return Error(Code::kMismatch,
                 "{}: vocabulary of {} ids, but {} has {}; tokenise both with one tokenizer",
                 other.name(), other.vocab_size(), first.name(), first.vocab_size());
  }
  if (first.tokenizer_hash() != other.tokenizer_hash()) {
    return Error(Code::kMismatch,
                 "{}: written with tokenizer \"{}\", but {} with \"{}\"; tokenise both with one",
                 other.name(), other.tokenizer_hash(), first.name(), first.tokenizer_hash());
  }
  return {};
}

}  // namespace

int64_t FirstAtLeast(std::span<const uint16_t> ids, int64_t limit) {
  return FirstAtLeastOf(ids, limit);
}

int64_t FirstAtLeast(std::span<const uint32_t> ids, int64_t limit) {
  return FirstAtLeastOf(ids, limit);
}

Result<std::shared_ptr<const TokenSource>> MakeSeparatedSource(SeparatedTokens stream) {
  if (stream.vocab_size < 1 || stream.vocab_size > std::numeric_limits<int32_t>::max()) {
    return Error(Code::kInvalidArgument, "{}: vocabulary of {} ids; expected 1 to 2^31 - 1",
                 stream.name, stream.vocab_size);
  }
  if (stream.separator < 0 || stream.separator >= stream.vocab_size || stream.group_documents < 1) {
    return Error(Code::kInvalidArgument,
                 "{}: separator {} and row groups of {} documents; expected a separator in [0, {}) "
                 "and groups of at least 1",
                 stream.name, stream.separator, stream.group_documents, stream.vocab_size);
  }
  const int64_t bad =
      std::visit([&](auto ids) { return FirstAtLeast(ids, stream.vocab_size); }, stream.ids);
  if (bad >= 0) {
    return Error(Code::kCorrupt,
                 "{}: token {} is outside the vocabulary of {} ids; it was written with another "
                 "tokenizer or is damaged",
                 stream.name, bad, stream.vocab_size);
  }
  return std::shared_ptr<const TokenSource>(new SeparatedSource(std::move(stream)));
}

Result<TokenSet> TokenSet::Create(std::vector<std::shared_ptr<const TokenSource>> sources) {
  if (sources.empty()) {
    return Error(Code::kInvalidArgument, "no token files given; name at least one");
  }
  for (const auto& source : sources) WT_RETURN_IF_ERROR(CheckSame(*sources.front(), *source));
  return TokenSet(std::move(sources));
}

Result<TokenSet> TokenSet::Open(const std::vector<std::string>& paths,
                                std::string_view tokenizer_hash) {
  std::vector<std::shared_ptr<const TokenSource>> sources;
  for (const std::string& path : paths) {
    WT_ASSIGN_OR_RETURN(auto file, TokenFile::Open(path, tokenizer_hash));
    sources.push_back(std::move(file));
  }
  return Create(std::move(sources));
}

int64_t TokenSet::documents() const {
  int64_t n = 0;
  for (const auto& source : sources_) n += source->documents();
  return n;
}

int64_t TokenSet::row_groups() const {
  int64_t n = 0;
  for (const auto& source : sources_) n += source->row_groups();
  return n;
}

int64_t TokenSet::tokens() const {
  int64_t n = 0;
  for (const auto& source : sources_) n += source->tokens();
  return n;
}

int64_t TokenSet::raw_bytes() const {
  int64_t n = 0;
  for (const auto& source : sources_) {
    if (source->raw_bytes() < 0) return -1;
    n += source->raw_bytes();
  }
  return n;
}

}  // namespace wt::text
