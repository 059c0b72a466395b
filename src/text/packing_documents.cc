#include "text/packing_documents.h"

#include <algorithm>

namespace wt::text {

Result<RankDocuments> RankDocuments::Create(const TokenSet& set, int32_t bos, int rank, int world) {
  if (world < 1 || rank < 0 || rank >= world) {
    return Error(Code::kInvalidArgument, "rank {} of {}; expected a rank in [0, world)", rank,
                 world);
  }
  if (bos < 0 || bos >= set.vocab_size()) {
    return Error(Code::kInvalidArgument, "BOS id {}; expected an id in the vocabulary of {}", bos,
                 set.vocab_size());
  }
  RankDocuments documents(set, bos);
  for (const auto& source : set.sources()) {
    for (int64_t group = rank; group < source->row_groups(); group += world) {
      documents.Add(*source, group);
    }
  }
  if (documents.documents_ == 0) {
    return Error(
        Code::kInvalidArgument,
        "rank {} of {} gets no row group of {} ({} files, {} row groups in all); use fewer "
        "ranks, more text, or smaller row groups when tokenising",
        rank, world, set.sources().front()->name(), set.sources().size(), set.row_groups());
  }
  return documents;
}

void RankDocuments::Add(const TokenSource& source, int64_t group) {
  const int64_t begin = source.GroupStart(group), end = source.GroupStart(group + 1);
  groups_.push_back({&source, begin, documents_, tokens_});
  documents_ += end - begin;
  tokens_ += source.DocumentStart(end) - source.DocumentStart(begin) + (end - begin);
}

const RankDocuments::Group& RankDocuments::Find(int64_t Group::*member, int64_t value) const {
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), value,
                       [member](int64_t v, const Group& group) { return v < group.*member; });
  return *(after - 1);
}

int64_t RankDocuments::Length(int64_t ordinal) const {
  const Group& g = Find(&Group::first_ordinal, ordinal);
  return 1 + g.source->Length(g.first_document + ordinal - g.first_ordinal);
}

int64_t RankDocuments::Position(int64_t ordinal) const {
  if (ordinal == documents_) return tokens_;
  const Group& g = Find(&Group::first_ordinal, ordinal);
  const int64_t within = ordinal - g.first_ordinal;
  return g.first_position + within + g.source->DocumentStart(g.first_document + within) -
         g.source->DocumentStart(g.first_document);
}

int64_t RankDocuments::GroupEnd(int64_t ordinal) const {
  const Group* next = &Find(&Group::first_ordinal, ordinal) + 1;
  return next == groups_.data() + groups_.size() ? documents_ : next->first_ordinal;
}

int64_t RankDocuments::OrdinalAt(int64_t position) const {
  const Group& g = Find(&Group::first_position, position);
  const int64_t base = g.source->DocumentStart(g.first_document);
  // Documents [low, high) of the group may hold it; each is at least its BOS long.
  int64_t low = 0, high = GroupEnd(g.first_ordinal) - g.first_ordinal;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    const int64_t start =
        g.first_position + middle + g.source->DocumentStart(g.first_document + middle) - base;
    (start <= position ? low : high) = middle;
  }
  return g.first_ordinal + low;
}

void RankDocuments::Copy(int64_t ordinal, int64_t begin, std::span<int32_t> out) const {
  if (out.empty()) return;
  const Group& g = Find(&Group::first_ordinal, ordinal);
  const int64_t document = g.first_document + ordinal - g.first_ordinal;
  if (begin > 0) return g.source->Copy(document, begin - 1, out);
  out[0] = bos_;
  g.source->Copy(document, 0, out.subspan(1));
}

void RankDocuments::CopyStream(int64_t position, std::span<int32_t> out) const {
  int64_t ordinal = OrdinalAt(position);
  int64_t begin = position - Position(ordinal);
  while (!out.empty()) {
    const int64_t count =
        std::min<int64_t>(static_cast<int64_t>(out.size()), Length(ordinal) - begin);
    Copy(ordinal, begin, out.first(static_cast<size_t>(count)));
    out = out.subspan(static_cast<size_t>(count));
    ++ordinal;
    begin = 0;
  }
}

}  // namespace wt::text
