// What one thread needs to encode: PCRE2's scratch, merge buffers and a cache of recent pieces.
// Most pieces of a text are words seen a moment ago; the cache answers those without merging.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "text/bpe_model.h"
#include "text/pretokenizer.h"

namespace wt::text {

// A direct-mapped cache of short pieces: a new piece takes the slot of the old one, so memory is
// fixed (3 MB) and nothing is ever searched.
class PieceCache {
 public:
  static constexpr size_t kMaxPieceBytes = 15;  // with its length, 16 bytes of key
  static constexpr size_t kMaxIds = 7;

  struct Slot {
    uint64_t key[2] = {0, 0};
    int32_t ids[kMaxIds];
    int32_t count = 0;
  };

  PieceCache() : slots_(kSlots) {}

  // The slot of `piece`; `hit` tells whether it holds this piece's ids. Requires 1 <= piece.size()
  // <= kMaxPieceBytes.
  Slot& Look(std::string_view piece, bool* hit) {
    const Key key = KeyOf(piece);
    Slot& slot = slots_[MixBits(key.low ^ key.high * 0x9E3779B97F4A7C15u) % kSlots];
    *hit = slot.key[0] == key.low && slot.key[1] == key.high;
    slot.key[0] = key.low;
    slot.key[1] = key.high;
    return slot;
  }

 private:
  static constexpr size_t kSlots = 1 << 16;
  struct Key {
    uint64_t low, high;
  };
  // The piece's bytes, then zeros, then its length in the last byte (never 0: free slots never
  // match).
  static Key KeyOf(std::string_view piece);

  std::vector<Slot> slots_;
};

class Encoder {
 public:
  // Appends the ids of `text`.
  void Encode(const Pretokenizer& pretokenizer, const BpeModel& model, bool whole_piece_first,
              std::string_view text, std::vector<int32_t>* out);

 private:
  void EncodePiece(const BpeModel& model, bool whole_piece_first, std::string_view piece,
                   std::vector<int32_t>* out);

  PcreSplitter::Scratch pcre_;
  MergeScratch merge_;
  PieceCache cache_;
};

// Lends encoders to threads and keeps them, warm, for the next call.
class EncoderPool {
 public:
  std::unique_ptr<Encoder> Take();
  void Return(std::unique_ptr<Encoder> encoder);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Encoder>> idle_;
};

}  // namespace wt::text
