#include "text/bpe_count.h"

#include <algorithm>

#include "text/bpe_hash.h"

namespace wt::text {

PieceCounter::Slot& PieceCounter::SlotOf(std::string_view piece, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.size == 0 || (slot.hash == hash && PieceOf(slot) == piece)) return slot;
  }
}

void PieceCounter::Add(std::string_view piece, int64_t count) {
  if (piece.empty()) return;
  if (used_ * 2 >= slots_.size()) Grow();
  const uint64_t hash = HashBytes(piece);
  Slot& slot = SlotOf(piece, hash);
  if (slot.size == 0) {
    slot.hash = hash;
    slot.offset = bytes_.size();
    slot.size = static_cast<uint32_t>(piece.size());
    bytes_ += piece;
    ++used_;
  }
  slot.count += count;
}

void PieceCounter::AddAll(const PieceCounter& other) {
  // Room first: inserting in hash order into a table that is too small piles up long probes.
  while ((used_ + other.used_) * 2 >= slots_.size()) Grow();
  for (const Slot& slot : other.slots_)
    if (slot.size > 0) Add(other.PieceOf(slot), slot.count);
}

void PieceCounter::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.size == 0) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].size > 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

std::vector<PieceCounter::Entry> PieceCounter::Sorted() const {
  std::vector<Entry> entries;
  for (const Slot& slot : slots_)
    if (slot.size > 0) entries.push_back({PieceOf(slot), slot.count});
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.piece < b.piece; });
  return entries;
}

}  // namespace wt::text
