// The merges of a byte-level BPE vocabulary and how one piece becomes token ids: start from bytes,
// always merge the adjacent pair of lowest rank, leftmost first, until no pair has a rank.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "text/bpe_hash.h"

namespace wt::text {

// Which pairs may merge.
enum class MergeRule {
  kByRank,  // tiktoken's: any pair whose joined bytes are a token; its rank is that token's id
  kByList,  // tokenizer.json's: the listed pairs only; the rank is the place in the list
};

struct MergePair {
  int32_t left, right;
  bool operator==(const MergePair&) const = default;
};

// Buffers of one thread, kept from call to call.
struct MergeScratch {
  std::vector<int32_t> ids, previous, next;
  std::vector<uint32_t> ranks;
  std::vector<uint64_t> heap;
};

class BpeModel {
 public:
  // `tokens[id]` holds the bytes of token id and "" for ids that are not made of bytes (specials).
  // `merges` is used with kByList only. Fails when a byte has no token, two tokens have the same
  // bytes, or a merge names an id that does not exist or joins to bytes that are no token.
  static Result<BpeModel> Build(const std::vector<std::string>& tokens, MergeRule rule,
                                const std::vector<MergePair>& merges);

  // The token whose bytes are exactly these, or -1.
  int32_t Find(std::string_view bytes) const {
    const auto it = by_bytes_.find(bytes);
    return it == by_bytes_.end() ? -1 : it->second;
  }
  int32_t ByteToken(uint8_t byte) const { return byte_tokens_[byte]; }

  // Appends the ids of `piece`. Time is O(n log n) in its length for long pieces.
  void Merge(std::string_view piece, MergeScratch* scratch, std::vector<int32_t>* out) const;

  // The two ways Merge works, for pieces of any length; equal results.
  void MergeShort(std::string_view piece, MergeScratch* scratch, std::vector<int32_t>* out) const;
  void MergeLong(std::string_view piece, MergeScratch* scratch, std::vector<int32_t>* out) const;

 private:
  struct BytesHash {
    using is_transparent = void;
    size_t operator()(std::string_view bytes) const { return HashBytes(bytes); }
  };

  Status AddTokens(const std::vector<std::string>& tokens);
  void RankAllSplits(const std::vector<std::string>& tokens);
  Status RankListed(const std::vector<std::string>& tokens, const std::vector<MergePair>& merges);
  void StartFromBytes(std::string_view piece, MergeScratch* scratch) const;
  static void LinkSymbols(MergeScratch* scratch);
  void Rerank(int32_t at, MergeScratch* scratch) const;

  std::array<int32_t, 256> byte_tokens_{};
  std::unordered_map<std::string, int32_t, BytesHash, std::equal_to<>> by_bytes_;
  PairMap ranks_;                // pair -> rank
  std::vector<int32_t> merged_;  // rank -> the token it makes
};

}  // namespace wt::text
