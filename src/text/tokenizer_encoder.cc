#include "text/tokenizer_encoder.h"

#include <cstring>

namespace wt::text {

PieceCache::Key PieceCache::KeyOf(std::string_view piece) {
  const size_t n = piece.size();
  const char* p = piece.data();
  Key key{0, static_cast<uint64_t>(n) << 56};
  // Two overlapping loads of a fixed size beat a copy of variable size.
  if (n >= 8) {
    uint64_t last;
    std::memcpy(&key.low, p, 8);
    std::memcpy(&last, p + n - 8, 8);
    if (n > 8) key.high |= last >> (8 * (16 - n));
  } else if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    key.low = first | static_cast<uint64_t>(last) << (8 * (n - 4));
  } else {
    for (size_t i = 0; i < n; ++i)
      key.low |= static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << (8 * i);
  }
  return key;
}

void Encoder::Encode(const Pretokenizer& pretokenizer, const BpeModel& model,
                     bool whole_piece_first, std::string_view text, std::vector<int32_t>* out) {
  PieceReader reader(pretokenizer, text, &pcre_);
  for (std::string_view piece; reader.Next(&piece);) {
    if (piece.size() == 1) {
      out->push_back(model.ByteToken(static_cast<uint8_t>(piece[0])));
      continue;
    }
    if (piece.size() > PieceCache::kMaxPieceBytes) {
      EncodePiece(model, whole_piece_first, piece, out);
      continue;
    }
    bool hit;
    PieceCache::Slot& slot = cache_.Look(piece, &hit);
    if (hit) {
      out->insert(out->end(), slot.ids, slot.ids + slot.count);
      continue;
    }
    const size_t before = out->size();
    EncodePiece(model, whole_piece_first, piece, out);
    const size_t count = out->size() - before;
    if (count > PieceCache::kMaxIds) {
      slot = {};
      continue;
    }
    slot.count = static_cast<int32_t>(count);
    std::memcpy(slot.ids, out->data() + before, count * sizeof(int32_t));
  }
}

void Encoder::EncodePiece(const BpeModel& model, bool whole_piece_first, std::string_view piece,
                          std::vector<int32_t>* out) {
  const int32_t whole = whole_piece_first ? model.Find(piece) : -1;
  if (whole >= 0) {
    out->push_back(whole);
  } else {
    model.Merge(piece, &merge_, out);
  }
}

std::unique_ptr<Encoder> EncoderPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto encoder = std::move(idle_.back());
      idle_.pop_back();
      return encoder;
    }
  }
  return std::make_unique<Encoder>();
}

void EncoderPool::Return(std::unique_ptr<Encoder> encoder) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(encoder));
}

}  // namespace wt::text
