#include "text/bpe_model.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace wt::text {
namespace {

// Longer pieces go through the heap. Below, shifting a few cache lines costs less than the heap;
// tokenizer_bench prints both sides.
constexpr size_t kLongPiece = 64;

constexpr size_t kKeptPiece = 1 << 20;

constexpr uint32_t kNoRank = PairMap::kNone;
constexpr int32_t kNoNeighbour = -1;

uint64_t HeapEntry(uint32_t rank, int32_t position) {
  return static_cast<uint64_t>(rank) << 32 | static_cast<uint32_t>(position);
}

std::string Printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 40)) {
    const auto byte = static_cast<uint8_t>(c);
    out += byte > 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

Result<BpeModel> BpeModel::Build(const std::vector<std::string>& tokens, MergeRule rule,
                                 const std::vector<MergePair>& merges) {
  BpeModel model;
  WT_RETURN_IF_ERROR(model.AddTokens(tokens));
  if (rule == MergeRule::kByRank) {
    model.RankAllSplits(tokens);
  } else {
    WT_RETURN_IF_ERROR(model.RankListed(tokens, merges));
  }
  return model;
}

Status BpeModel::AddTokens(const std::vector<std::string>& tokens) {
  by_bytes_.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    const auto [it, is_new] = by_bytes_.emplace(tokens[id], static_cast<int32_t>(id));
    if (!is_new) {
      return Error(Code::kCorrupt, "duplicate token: ids {} and {} are both \"{}\"", it->second, id,
                   Printable(tokens[id]));
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_tokens_[byte] = Find({&c, 1});
    if (byte_tokens_[byte] < 0) {
      return Error(Code::kCorrupt,
                   "byte 0x{:02x} has no token; a byte-level vocabulary needs all 256", byte);
    }
  }
  return {};
}

void BpeModel::RankAllSplits(const std::vector<std::string>& tokens) {
  merged_.resize(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view bytes = tokens[id];
    merged_[id] = static_cast<int32_t>(id);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const int32_t left = Find(bytes.substr(0, cut)), right = Find(bytes.substr(cut));
      if (left >= 0 && right >= 0) ranks_.At(left, right) = static_cast<uint32_t>(id);
    }
  }
}

Status BpeModel::RankListed(const std::vector<std::string>& tokens,
                            const std::vector<MergePair>& merges) {
  const auto count = static_cast<int32_t>(tokens.size());
  const auto is_token = [&](int32_t id) { return id >= 0 && id < count && !tokens[id].empty(); };
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto [left, right] = merges[rank];
    if (!is_token(left) || !is_token(right)) {
      return Error(Code::kCorrupt, "merge {}: ids {} and {}; expected two tokens made of bytes",
                   rank, left, right);
    }
    const std::string joined = tokens[left] + tokens[right];
    merged_.push_back(Find(joined));
    if (merged_.back() < 0) {
      return Error(Code::kCorrupt, "merge {}: ids {} and {} join to \"{}\", which is no token",
                   rank, left, right, Printable(joined));
    }
    uint32_t& slot = ranks_.At(left, right);
    if (slot != kNoRank) {
      return Error(Code::kCorrupt, "merge {} repeats merge {}: ids {} and {}", rank, slot, left,
                   right);
    }
    slot = static_cast<uint32_t>(rank);
  }
  return {};
}

void BpeModel::Merge(std::string_view piece, MergeScratch* scratch,
                     std::vector<int32_t>* out) const {
  if (piece.size() < kLongPiece) {
    MergeShort(piece, scratch, out);
  } else {
    MergeLong(piece, scratch, out);
  }
}

// ids[i] and, in ranks[i], the rank of the pair (i, i + 1).
void BpeModel::StartFromBytes(std::string_view piece, MergeScratch* scratch) const {
  const size_t n = piece.size();
  scratch->ids.resize(n);
  scratch->ranks.resize(n);
  for (size_t i = 0; i < n; ++i) scratch->ids[i] = ByteToken(static_cast<uint8_t>(piece[i]));
  for (size_t i = 0; i + 1 < n; ++i)
    scratch->ranks[i] = ranks_.Find(scratch->ids[i], scratch->ids[i + 1]);
  if (n > 0) scratch->ranks[n - 1] = kNoRank;
}

void BpeModel::MergeShort(std::string_view piece, MergeScratch* scratch,
                          std::vector<int32_t>* out) const {
  StartFromBytes(piece, scratch);
  int32_t* ids = scratch->ids.data();
  uint32_t* ranks = scratch->ranks.data();
  size_t n = piece.size();
  while (n > 1) {
    const size_t at = std::min_element(ranks, ranks + n - 1) - ranks;
    if (ranks[at] == kNoRank) break;
    ids[at] = merged_[ranks[at]];
    std::memmove(ids + at + 1, ids + at + 2, (n - at - 2) * sizeof *ids);
    std::memmove(ranks + at, ranks + at + 1, (n - at - 1) * sizeof *ranks);
    --n;
    ranks[at] = at + 1 < n ? ranks_.Find(ids[at], ids[at + 1]) : kNoRank;
    if (at > 0) ranks[at - 1] = ranks_.Find(ids[at - 1], ids[at]);
  }
  out->insert(out->end(), ids, ids + n);
}

// Neighbours of every symbol, and a heap of all pairs that have a rank.
void BpeModel::LinkSymbols(MergeScratch* s) {
  const auto n = static_cast<int32_t>(s->ids.size());
  s->previous.resize(n);
  s->next.resize(n);
  s->heap.clear();
  for (int32_t i = 0; i < n; ++i) {
    s->previous[i] = i - 1;
    s->next[i] = i + 1 < n ? i + 1 : kNoNeighbour;
    if (s->ranks[i] != kNoRank) s->heap.push_back(HeapEntry(s->ranks[i], i));
  }
  std::make_heap(s->heap.begin(), s->heap.end(), std::greater<uint64_t>());
}

void BpeModel::Rerank(int32_t at, MergeScratch* s) const {
  const int32_t next = s->next[at];
  s->ranks[at] = next == kNoNeighbour ? kNoRank : ranks_.Find(s->ids[at], s->ids[next]);
  if (s->ranks[at] == kNoRank) return;
  s->heap.push_back(HeapEntry(s->ranks[at], at));
  std::push_heap(s->heap.begin(), s->heap.end(), std::greater<uint64_t>());
}

// A linked list of symbols and a heap of (rank, position). An entry is stale when its symbol is
// gone or its pair has another rank by now; both show in ranks[position].
void BpeModel::MergeLong(std::string_view piece, MergeScratch* scratch,
                         std::vector<int32_t>* out) const {
  WT_CHECK(piece.size() < (size_t{1} << 31), "piece of {} bytes", piece.size());
  MergeScratch& s = *scratch;
  StartFromBytes(piece, &s);
  LinkSymbols(&s);
  while (!s.heap.empty()) {
    std::pop_heap(s.heap.begin(), s.heap.end(), std::greater<uint64_t>());
    const uint64_t top = s.heap.back();
    s.heap.pop_back();
    const auto rank = static_cast<uint32_t>(top >> 32);
    const auto at = static_cast<int32_t>(static_cast<uint32_t>(top));
    if (s.ranks[at] != rank) continue;
    const int32_t gone = s.next[at];
    s.ids[at] = merged_[rank];
    s.ranks[gone] = kNoRank;
    s.next[at] = s.next[gone];
    if (s.next[at] != kNoNeighbour) s.previous[s.next[at]] = at;
    Rerank(at, &s);
    if (s.previous[at] != kNoNeighbour) Rerank(s.previous[at], &s);
  }
  for (int32_t i = piece.empty() ? kNoNeighbour : 0; i != kNoNeighbour; i = s.next[i])
    out->push_back(s.ids[i]);
  // A piece of megabytes is rare; its buffers are not worth keeping.
  if (piece.size() > kKeptPiece) s = {};
}

}  // namespace wt::text
