#include "text/bpe_merges.h"

#include <algorithm>

#include "text/tokenizer.h"

namespace wt::text {

PairMerger::PairMerger(const std::vector<PieceCounter::Entry>& pieces) {
  for (int byte = 0; byte < 256; ++byte) {
    tokens_.emplace_back(1, static_cast<char>(byte));
    by_bytes_[tokens_.back()] = byte;
  }
  for (const auto& [piece, count] : pieces) {
    if (piece.size() < 2) continue;
    const auto word = static_cast<uint32_t>(words_.size());
    words_.push_back(
        {static_cast<uint32_t>(symbols_.size()), static_cast<uint32_t>(piece.size()), count});
    for (const char c : piece) symbols_.push_back(static_cast<uint8_t>(c));
    const int32_t* s = &symbols_[words_.back().begin];
    for (size_t i = 0; i + 1 < piece.size(); ++i) Change(s[i], s[i + 1], count, word);
  }
  PushGrown();
}

uint32_t PairMerger::PairIndex(int32_t left, int32_t right) {
  uint32_t& index = index_.At(left, right);
  if (index == PairMap::kNone) {
    index = static_cast<uint32_t>(pairs_.size());
    pairs_.push_back({left, right, 0, {}});
  }
  return index;
}

void PairMerger::Change(int32_t left, int32_t right, int64_t delta, uint32_t word) {
  const uint32_t index = PairIndex(left, right);
  Pair& pair = pairs_[index];
  pair.count += delta;
  if (delta <= 0) return;
  if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
  if (grown_.empty() || grown_.back() != index) grown_.push_back(index);
}

bool PairMerger::Worse(const Candidate& a, const Candidate& b) const {
  if (a.count != b.count) return a.count < b.count;
  const Pair &x = pairs_[a.pair], &y = pairs_[b.pair];
  return PairMap::Key(x.left, x.right) > PairMap::Key(y.left, y.right);
}

void PairMerger::Push(uint32_t pair) {
  if (pairs_[pair].count <= 0) return;
  heap_.push_back({pairs_[pair].count, pair});
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](const Candidate& a, const Candidate& b) { return Worse(a, b); });
}

void PairMerger::PushGrown() {
  std::sort(grown_.begin(), grown_.end());
  grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
  for (const uint32_t pair : grown_) Push(pair);
  grown_.clear();
}

// Counts that rose were pushed again, so a stale entry can only promise too much: it goes back with
// its present count, and the first entry that keeps its word is the best pair.
bool PairMerger::Pop(uint32_t* pair) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(),
                  [this](const Candidate& a, const Candidate& b) { return Worse(a, b); });
    const Candidate top = heap_.back();
    heap_.pop_back();
    *pair = top.pair;
    if (pairs_[top.pair].count == top.count) return true;
    if (pairs_[top.pair].count < top.count) Push(top.pair);
  }
  return false;
}

int32_t PairMerger::TokenFor(const Pair& pair, bool* is_new) {
  std::string joined = tokens_[pair.left] + tokens_[pair.right];
  const auto [it, inserted] = by_bytes_.emplace(joined, static_cast<int32_t>(tokens_.size()));
  if (inserted) tokens_.push_back(std::move(joined));
  *is_new = inserted;
  return it->second;
}

bool PairMerger::Step() {
  for (uint32_t best; Pop(&best);) {
    const Pair& pair = pairs_[best];
    if (tokens_[pair.left].size() + tokens_[pair.right].size() > kMaxTokenBytes) continue;
    bool is_new;
    MergeEverywhere(best, TokenFor(pair, &is_new));
    if (is_new) return true;
  }
  return false;
}

void PairMerger::MergeEverywhere(uint32_t pair, int32_t merged) {
  const std::vector<uint32_t> words = std::move(pairs_[pair].words);
  pairs_[pair].words.clear();
  const int32_t left = pairs_[pair].left, right = pairs_[pair].right;
  for (const uint32_t word : words) MergeInWord(word, left, right, merged);
  PushGrown();
}

// Rewrites the word in place, left to right, and moves its neighbours' counts from the old pairs to
// the new ones.
void PairMerger::MergeInWord(uint32_t word_index, int32_t left, int32_t right, int32_t merged) {
  Word& word = words_[word_index];
  int32_t* s = &symbols_[word.begin];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < word.size; ++kept) {
    if (i + 1 >= word.size || s[i] != left || s[i + 1] != right) {
      s[kept] = s[i++];
      continue;
    }
    if (kept > 0) {
      Change(s[kept - 1], left, -word.count, word_index);
      Change(s[kept - 1], merged, word.count, word_index);
    }
    Change(left, right, -word.count, word_index);
    if (i + 2 < word.size) {
      Change(right, s[i + 2], -word.count, word_index);
      Change(merged, s[i + 2], word.count, word_index);
    }
    s[kept] = merged;
    i += 2;
  }
  word.size = kept;
}

}  // namespace wt::text
