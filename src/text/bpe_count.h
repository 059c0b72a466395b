// Counting unique pieces: the first pass of training. A text of gigabytes has a few million unique
// pieces, and merging works on those alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wt::text {

class PieceCounter {
 public:
  PieceCounter() : slots_(1 << 12) {}

  void Add(std::string_view piece, int64_t count = 1);
  void AddAll(const PieceCounter& other);

  size_t size() const { return used_; }

  struct Entry {
    std::string_view piece;  // valid as long as the counter is not added to
    int64_t count;
  };
  // All pieces in byte order.
  std::vector<Entry> Sorted() const;

 private:
  struct Slot {
    uint64_t hash = 0;
    uint64_t offset = 0;  // of the piece in bytes_
    uint32_t size = 0;    // 0: free
    int64_t count = 0;
  };
  std::string_view PieceOf(const Slot& slot) const { return {&bytes_[slot.offset], slot.size}; }
  Slot& SlotOf(std::string_view piece, uint64_t hash);
  void Grow();

  std::vector<Slot> slots_;
  std::string bytes_;
  size_t used_ = 0;
};

}  // namespace wt::text
