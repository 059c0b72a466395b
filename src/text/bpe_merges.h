// Greedy pair merging over counted pieces: the second pass of training. The most frequent adjacent
// pair becomes a token, again and again; of equally frequent pairs the one with the smaller ids
// (left first, then right).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/bpe_count.h"
#include "text/bpe_hash.h"

namespace wt::text {

class PairMerger {
 public:
  // Copies the pieces of two bytes or more.
  explicit PairMerger(const std::vector<PieceCounter::Entry>& pieces);

  // Makes one new token; false when no pair is left. A merge whose joined bytes are a token already
  // (reached another way) is applied and counts as part of the call, but makes no second token.
  bool Step();

  // Bytes of all tokens so far; the first 256 are the single bytes.
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  struct Word {
    uint32_t begin, size;  // in symbols_
    int64_t count;
  };
  struct Pair {
    int32_t left, right;
    int64_t count = 0;
    std::vector<uint32_t> words;  // where it has been seen; may hold words that lost it since
  };
  struct Candidate {
    int64_t count;  // as of the push; stale when it differs from the pair's
    uint32_t pair;
  };

  uint32_t PairIndex(int32_t left, int32_t right);
  void Change(int32_t left, int32_t right, int64_t delta, uint32_t word);
  bool Worse(const Candidate& a, const Candidate& b) const;
  void Push(uint32_t pair);
  void PushGrown();
  bool Pop(uint32_t* pair);
  void MergeEverywhere(uint32_t pair, int32_t merged);
  void MergeInWord(uint32_t word, int32_t left, int32_t right, int32_t merged);
  int32_t TokenFor(const Pair& pair, bool* is_new);

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> by_bytes_;
  std::vector<int32_t> symbols_;
  std::vector<Word> words_;
  PairMap index_;  // pair -> place in pairs_
  std::vector<Pair> pairs_;
  std::vector<Candidate> heap_;
  std::vector<uint32_t> grown_;  // pairs whose count rose since the last push
};

}  // namespace wt::text
