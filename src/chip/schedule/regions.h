// Who wrote and who reads which bytes: the source of all data hazards. A buffer's bytes are split
// into disjoint boxes, each with its last writer and the readers since. Boxes, readers and lists
// live in pools; nothing is allocated per instruction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chip/schedule/record.h"

namespace wt::chip {

struct Box {
  int32_t row_begin = 0, row_end = 1;
  int64_t byte_begin = 0, byte_end = 0;

  bool empty() const { return row_begin >= row_end || byte_begin >= byte_end; }
  bool Overlaps(const Box& other) const {
    return row_begin < other.row_end && other.row_begin < row_end && byte_begin < other.byte_end &&
           other.byte_begin < byte_end;
  }
  bool Contains(const Box& other) const {
    return row_begin <= other.row_begin && other.row_end <= row_end &&
           byte_begin <= other.byte_begin && other.byte_end <= byte_end;
  }
  Box Meet(const Box& other) const {
    return {std::max(row_begin, other.row_begin), std::min(row_end, other.row_end),
            std::max(byte_begin, other.byte_begin), std::min(byte_end, other.byte_end)};
  }
  int64_t area() const { return (row_end - row_begin) * (byte_end - byte_begin); }
  bool operator==(const Box&) const = default;
};

using RegionList = uint32_t;  // head of a list in the pool
inline constexpr RegionList kNoRegions = ~0u;

// One earlier access that a new one conflicts with.
struct Conflict {
  Number number;
  uint32_t owner;  // the tensor version it belonged to
  bool was_write;
};

class RegionPool {
 public:
  // Records that `number` reads `box`; gives the writers it must wait for to `visit`.
  template <class Visit>
  void Read(RegionList& list, const Box& box, Number number, uint32_t owner, const Visit& visit);
  // Records that `number` writes `box`; gives the earlier writers and readers to `visit`.
  template <class Visit>
  void Write(RegionList& list, const Box& box, Number number, uint32_t owner, const Visit& visit);

  // Drops readers older than `oldest`, and boxes whose writer is too; gives how much is left.
  size_t Prune(RegionList& list, Number oldest);
  // Adds to `to` what `from` says of the bytes in the window, shifted by `shift` bytes.
  void CopyInto(RegionList& to, RegionList from, int64_t window_begin, int64_t window_end,
                int64_t shift);
  void Free(RegionList& list);
  size_t Count(RegionList list) const;

 private:
  struct Region {
    Box box;
    Number writer = kNobody;
    uint32_t owner = 0;
    uint32_t readers = ~0u;
    uint32_t next = ~0u;
  };
  struct Reader {
    Number number = kNobody;
    uint32_t next = ~0u;
    Box box;  // within its region
  };

  uint32_t NewRegion(const Region& region);
  void FreeRegion(uint32_t at);
  void AddReader(uint32_t& head, Number number, const Box& box);
  void FreeReaders(uint32_t head);
  // Those of `head` within `window`, shifted by `shift` bytes.
  uint32_t CopyReaders(uint32_t head, const Box& window, int64_t shift);
  // Takes `box` out of the region at `at`; what is left goes to the front of `list`. The region
  // itself is the caller's to free.
  void KeepRest(RegionList& list, const Region& region, const Box& box);
  // Adds boxes without a writer for what `box` covers beyond the regions of `list`.
  void ReadRest(RegionList& list, RegionList old_head, const Box& box, Number number,
                uint32_t owner);

  std::vector<Region> regions_;
  std::vector<Reader> readers_;
  std::vector<Box> rest_, rest_next_;  // scratch
  uint32_t free_region_ = ~0u, free_reader_ = ~0u;
};

template <class Visit>
void RegionPool::Read(RegionList& list, const Box& box, Number number, uint32_t owner,
                      const Visit& visit) {
  int64_t uncovered = box.area();
  for (uint32_t at = list; at != ~0u; at = regions_[at].next) {
    Region& region = regions_[at];
    if (!region.box.Overlaps(box)) continue;
    if (region.writer != kNobody) visit(Conflict{region.writer, region.owner, true});
    const Box part = region.box.Meet(box);
    AddReader(region.readers, number, part);
    uncovered -= part.area();
    if (uncovered == 0) return;
  }
  ReadRest(list, list, box, number, owner);
}

template <class Visit>
void RegionPool::Write(RegionList& list, const Box& box, Number number, uint32_t owner,
                       const Visit& visit) {
  uint32_t* link = &list;
  RegionList rest = kNoRegions;
  uint32_t reuse = ~0u;
  while (*link != ~0u) {
    const uint32_t at = *link;
    Region& region = regions_[at];
    if (!region.box.Overlaps(box)) {
      link = &region.next;
      continue;
    }
    if (region.writer != kNobody) visit(Conflict{region.writer, region.owner, true});
    const bool whole = box.Contains(region.box);
    for (uint32_t reader = region.readers; reader != ~0u; reader = readers_[reader].next) {
      if (!whole && !readers_[reader].box.Overlaps(box)) continue;
      visit(Conflict{readers_[reader].number, region.owner, false});
    }
    *link = region.next;
    if (!whole) {
      const Region copy = region;  // KeepRest may move the pool
      KeepRest(rest, copy, box);
      link = &list;  // likewise: start over, the rest so far does not overlap
    }
    FreeReaders(regions_[at].readers);
    regions_[at].readers = ~0u;
    if (reuse == ~0u) {
      reuse = at;
    } else {
      FreeRegion(at);
    }
  }
  while (rest != ~0u) {  // the parts of earlier boxes that stay
    const uint32_t at = rest;
    rest = regions_[at].next;
    regions_[at].next = list;
    list = at;
  }
  const Region mine{box, number, owner, ~0u, list};
  if (reuse == ~0u) {
    list = NewRegion(mine);
  } else {
    regions_[reuse] = mine;
    list = reuse;
  }
}

}  // namespace wt::chip
