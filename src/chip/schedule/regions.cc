#include "chip/schedule/regions.h"

namespace wt::chip {

namespace {

// Gives the at most four parts of `box` that lie outside `hole` to `visit`. Requires overlap.
template <class Visit>
void Subtract(const Box& box, const Box& hole, const Visit& visit) {
  const Box cut = box.Meet(hole);
  const auto give = [&](int32_t row_begin, int32_t row_end, int64_t byte_begin, int64_t byte_end) {
    const Box part{row_begin, row_end, byte_begin, byte_end};
    if (!part.empty()) visit(part);
  };
  give(box.row_begin, cut.row_begin, box.byte_begin, box.byte_end);
  give(cut.row_end, box.row_end, box.byte_begin, box.byte_end);
  give(cut.row_begin, cut.row_end, box.byte_begin, cut.byte_begin);
  give(cut.row_begin, cut.row_end, cut.byte_end, box.byte_end);
}

}  // namespace

uint32_t RegionPool::NewRegion(const Region& region) {
  if (free_region_ == ~0u) {
    regions_.push_back(region);
    return static_cast<uint32_t>(regions_.size() - 1);
  }
  const uint32_t at = free_region_;
  free_region_ = regions_[at].next;
  regions_[at] = region;
  return at;
}

void RegionPool::FreeRegion(uint32_t at) {
  FreeReaders(regions_[at].readers);
  regions_[at].readers = ~0u;
  regions_[at].next = free_region_;
  free_region_ = at;
}

void RegionPool::AddReader(uint32_t& head, Number number, const Box& box) {
  uint32_t at = free_reader_;
  if (at == ~0u) {
    at = static_cast<uint32_t>(readers_.size());
    readers_.emplace_back();
  } else {
    free_reader_ = readers_[at].next;
  }
  readers_[at] = {number, head, box};
  head = at;
}

void RegionPool::FreeReaders(uint32_t head) {
  while (head != ~0u) {
    const uint32_t next = readers_[head].next;
    readers_[head].next = free_reader_;
    free_reader_ = head;
    head = next;
  }
}

uint32_t RegionPool::CopyReaders(uint32_t head, const Box& window, int64_t shift) {
  uint32_t copy = ~0u;
  for (; head != ~0u; head = readers_[head].next) {
    Box part = readers_[head].box.Meet(window);
    if (part.empty()) continue;
    part.byte_begin += shift;
    part.byte_end += shift;
    AddReader(copy, readers_[head].number, part);
  }
  return copy;
}

void RegionPool::KeepRest(RegionList& list, const Region& region, const Box& box) {
  Subtract(region.box, box, [&](const Box& part) {
    Region rest = region;
    rest.box = part;
    rest.readers = CopyReaders(region.readers, part, 0);
    rest.next = list;
    list = NewRegion(rest);
  });
}

void RegionPool::ReadRest(RegionList& list, RegionList old_head, const Box& box, Number number,
                          uint32_t owner) {
  rest_.assign(1, box);
  for (uint32_t at = old_head; at != ~0u && !rest_.empty(); at = regions_[at].next) {
    const Box& covered = regions_[at].box;
    rest_next_.clear();
    for (const Box& part : rest_) {
      if (part.Overlaps(covered)) {
        Subtract(part, covered, [&](const Box& left) { rest_next_.push_back(left); });
      } else {
        rest_next_.push_back(part);
      }
    }
    rest_.swap(rest_next_);
  }
  for (const Box& part : rest_) {
    Region region{part, kNobody, owner, ~0u, list};
    AddReader(region.readers, number, part);
    list = NewRegion(region);
  }
}

size_t RegionPool::Prune(RegionList& list, Number oldest) {
  size_t left = 0;
  uint32_t* link = &list;
  while (*link != ~0u) {
    const uint32_t at = *link;
    Region& region = regions_[at];
    uint32_t* reader = &region.readers;
    while (*reader != ~0u) {
      const uint32_t old = *reader;
      if (readers_[old].number >= oldest) {
        reader = &readers_[old].next;
        ++left;
        continue;
      }
      *reader = readers_[old].next;
      readers_[old].next = free_reader_;
      free_reader_ = old;
    }
    const bool written = region.writer != kNobody && region.writer >= oldest;
    if (written || region.readers != ~0u) {
      link = &region.next;
      ++left;
    } else {
      *link = region.next;
      FreeRegion(at);
    }
  }
  return left;
}

void RegionPool::CopyInto(RegionList& to, RegionList from, int64_t window_begin, int64_t window_end,
                          int64_t shift) {
  for (uint32_t at = from; at != ~0u; at = regions_[at].next) {
    Region part = regions_[at];
    part.box.byte_begin = std::max(part.box.byte_begin, window_begin);
    part.box.byte_end = std::min(part.box.byte_end, window_end);
    if (part.box.empty()) continue;
    part.readers = CopyReaders(part.readers, part.box, shift);
    part.box.byte_begin += shift;
    part.box.byte_end += shift;
    part.next = to;
    to = NewRegion(part);
  }
}

void RegionPool::Free(RegionList& list) {
  while (list != ~0u) {
    const uint32_t at = list;
    list = regions_[at].next;
    FreeRegion(at);
  }
}

size_t RegionPool::Count(RegionList list) const {
  size_t count = 0;
  for (; list != ~0u; list = regions_[list].next) ++count;
  return count;
}

}  // namespace wt::chip
