// Byte-level BPE tokenizer: text -> token ids -> the same bytes. Made by the trainer (bpe_train.h),
// by Load, or by an import (tokenizer_json.h, tokenizer_tiktoken.h); used by the loaders, the
// evaluators and the byte accounting of bits per byte.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/bpe_model.h"

namespace wt::text {

// Everything a tokenizer is; the content of its file.
struct TokenizerSpec {
  std::string pattern = "nanochat";  // a name of pretokenizer_patterns.h
  MergeRule rule = MergeRule::kByRank;
  // A piece that is a token as a whole becomes that token, merges or not (tiktoken does so, and
  // tokenizer.json under ignore_merges).
  bool whole_piece_first = true;
  std::vector<std::string> tokens;  // by id: raw bytes; the name for a special
  std::vector<bool> special;        // by id
  std::vector<MergePair> merges;    // kByList only, in rank order
  int bos = -1;                     // id of a special; -1 for none
};

inline constexpr int kMaxVocabSize = 1 << 20;
inline constexpr int kMaxTokenBytes = 4096;

// Immutable once made; copies share it; all calls are safe from many threads at once.
class Tokenizer {
 public:
  // Checks everything: 256 byte tokens, no duplicates, sizes, merges, names, BOS.
  static Result<Tokenizer> Create(TokenizerSpec spec);

  // The native format, docs/formats/tokenizer.md. Load accepts exactly what Save writes and fails
  // with kNotFound/kIo, kCorrupt (not this format, truncated, checksum, contents) or kUnsupported
  // (a newer version, an unknown split pattern).
  static Result<Tokenizer> Load(const std::string& path);
  Status Save(const std::string& path) const;

  int vocab_size() const;
  int bos() const;  // -1 when there is none

  // Appends the ids of `text`, which may hold any bytes. Specials never come out of text, also when
  // the text spells their name. No BOS is added.
  void Encode(std::string_view text, std::vector<int32_t>* out) const;
  std::vector<int32_t> Encode(std::string_view text) const;
  // One vector a text, with ParallelFor.
  std::vector<std::vector<int32_t>> EncodeAll(std::span<const std::string_view> texts) const;

  enum class Specials { kDrop, kName };
  // The bytes of the ids. Ids outside [0, vocab_size) decode to nothing.
  std::string Decode(std::span<const int32_t> ids, Specials specials = Specials::kDrop) const;

  // By id: length in bytes, 0 for specials. The sum over Encode(text) is text.size().
  const std::vector<int32_t>& token_bytes() const;
  // The bytes of one token, "" for a special. Requires 0 <= id < vocab_size().
  std::string_view TokenBytes(int32_t id) const;

  bool IsSpecial(int32_t id) const;                // requires 0 <= id < vocab_size()
  std::string_view SpecialName(int32_t id) const;  // "" for ordinary tokens; same requirement
  int SpecialId(std::string_view name) const;      // -1 when no special has that name

  // SHA-256, in hexadecimal, of what Save writes: the identity that checkpoints and token files
  // record.
  const std::string& hash() const;

  const TokenizerSpec& spec() const;
  const BpeModel& model() const;

 private:
  struct State;
  explicit Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Names of the specials, in id order; the first one is BOS.
std::vector<std::string> NanochatSpecials();  // 9: <|bos|>, <|user_start|>, …
std::vector<std::string> ContestSpecials();   // 4: <|reserved_0|> … <|reserved_3|>

// Appends specials to `spec` with the next ids and makes the first of them BOS.
void AppendSpecials(const std::vector<std::string>& names, TokenizerSpec* spec);

}  // namespace wt::text
