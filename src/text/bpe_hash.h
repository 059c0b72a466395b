// Hashing and the one hash table of byte-pair encoding: pair of token ids -> number. Open
// addressing, linear probing, no deletion; look-ups are what training and encoding spend their time
// on.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace wt::text {

// Mixes all bits of x into all bits of the result (the finaliser of SplitMix64).
inline uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t h = bytes.size() * 0x9E3779B97F4A7C15u;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (uint64_t word; left >= 8; p += 8, left -= 8) {
    std::memcpy(&word, p, 8);
    h = MixBits(h ^ word);
  }
  uint64_t word = 0;
  if (left > 0) std::memcpy(&word, p, left);
  return MixBits(h ^ word);
}

class PairMap {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  PairMap() : slots_(16) {}

  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  // The value of a pair, or kNone.
  uint32_t Find(int32_t left, int32_t right) const {
    return slots_[SlotOf(Key(left, right))].value;
  }

  // The value of a pair, kNone when the pair is new; stays valid until the next call.
  uint32_t& At(int32_t left, int32_t right) {
    if (used_ * 2 >= slots_.size()) Grow();
    const uint64_t key = Key(left, right);
    Slot& slot = slots_[SlotOf(key)];
    if (slot.key == kFree) {
      slot.key = key;
      ++used_;
    }
    return slot.value;
  }

  size_t size() const { return used_; }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // no pair of ids: ids are not negative
  struct Slot {
    uint64_t key = kFree;
    uint32_t value = kNone;
  };

  size_t SlotOf(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = MixBits(key) & mask;
    while (slots_[i].key != key && slots_[i].key != kFree) i = (i + 1) & mask;
    return i;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kFree) slots_[SlotOf(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace wt::text
