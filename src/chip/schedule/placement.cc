#include "chip/schedule/placement.h"

#include <cmath>

namespace wt::chip {

Space::Space(const SpaceShape& shape, RegionPool* regions)
    : shape_(shape), pool_(regions), segments_{{0, shape.bytes, kNoId}} {}

BufferId Space::Take(SiteId site_id, int64_t bytes) {
  bytes = (std::max<int64_t>(bytes, 1) + shape_.granule - 1) / shape_.granule * shape_.granule;
  if (site_id >= sites_.size()) sites_.resize(site_id + 1);
  Site& site = sites_[site_id];
  site.max_live = std::max(site.max_live, ++site.live);
  const auto most = static_cast<int>(std::ceil(shape_.copies * site.max_live));
  const bool own = site.oldest != kNoId;
  BufferId buffer = kNoId;
  if (!own || site.count < most) {
    const Place place = FindPlace(bytes);
    const bool older =
        own && (place.dead_since == 0 ||
                (shape_.roams && place.dead_since < buffers_[site.oldest].dead_since));
    if (place.begin >= 0 && (!own || older)) {
      buffer = NewBuffer(site_id, place.begin, bytes);
      Occupy(place.begin, place.begin + bytes, buffer);
    }
  }
  if (buffer == kNoId && own) buffer = PopDead(site);
  if (buffer == kNoId) {
    oversubscribed_ = true;
    buffer = NewBuffer(site_id, shape_.bytes, bytes);
  }
  GiveLife(buffer);
  return buffer;
}

void Space::GiveLife(BufferId buffer) {
  buffers_[buffer].live = true;
  live_bytes_ += buffers_[buffer].bytes;
  live_peak_ = std::max(live_peak_, live_bytes_);
  placed_peak_ = std::max(placed_peak_, placed_bytes_);
}

void Space::Release(BufferId id) {
  Buffer& buffer = buffers_[id];
  buffer.live = false;
  buffer.dead_since = ++clock_;
  buffer.next = kNoId;
  live_bytes_ -= buffer.bytes;
  Site& site = sites_[buffer.site];
  --site.live;
  (site.oldest == kNoId ? site.oldest : buffers_[site.newest].next) = id;
  site.newest = id;
}

void Space::Reserve(int64_t begin, int64_t end) {
  end = std::min(end, shape_.bytes);
  std::vector<std::pair<int64_t, int64_t>> gaps;  // what is neither live nor reserved
  for (const Segment& segment : segments_) {
    const int64_t from = std::max(begin, segment.begin), to = std::min(end, segment.end);
    if (from >= to) continue;
    const bool live = segment.buffer != kNoId && buffers_[segment.buffer].live;
    if (!live) {
      gaps.emplace_back(from, to);
    } else if (buffers_[segment.buffer].site != kNoId) {
      oversubscribed_ = true;  // a tile that the policy placed is there already
    }
  }
  for (const auto& [from, to] : gaps) {
    const BufferId buffer = NewBuffer(kNoId, from, to - from);
    buffers_[buffer].live = true;
    Occupy(from, to, buffer);
  }
}

BufferId Space::NewBuffer(SiteId site, int64_t begin, int64_t bytes) {
  BufferId id = kNoId;
  if (free_buffers_.empty()) {
    id = static_cast<BufferId>(buffers_.size());
    buffers_.emplace_back();
  } else {
    id = free_buffers_.back();
    free_buffers_.pop_back();
  }
  buffers_[id] = Buffer{};
  buffers_[id].begin = begin;
  buffers_[id].bytes = bytes;
  buffers_[id].site = site;
  if (site != kNoId) ++sites_[site].count;
  placed_bytes_ += bytes;
  return id;
}

BufferId Space::PopDead(Site& site) {
  const BufferId id = site.oldest;
  site.oldest = buffers_[id].next;
  if (site.oldest == kNoId) site.newest = kNoId;
  return id;
}

void Space::UnlinkDead(BufferId id) {
  const SiteId site_id = buffers_[id].site;
  if (site_id == kNoId) return;
  Site& site = sites_[site_id];
  --site.count;
  BufferId before = kNoId;
  for (BufferId at = site.oldest; at != id; at = buffers_[at].next) before = at;
  (before == kNoId ? site.oldest : buffers_[before].next) = buffers_[id].next;
  if (site.newest == id) site.newest = before;
}

int64_t Space::AlignUp(int64_t begin, int64_t bytes) const {
  begin = (begin + shape_.granule - 1) / shape_.granule * shape_.granule;
  if (shape_.bank == 0) return begin;
  const bool crosses = begin % shape_.bank + bytes > shape_.bank;
  return crosses ? (begin + shape_.bank - 1) / shape_.bank * shape_.bank : begin;
}

Space::Place Space::FindPlace(int64_t bytes) const {
  Place best{-1, ~uint64_t{0}};
  for (size_t first = 0; first < segments_.size(); ++first) {
    // Starts are the segments' starts and, in banked memory, the bank or granule after.
    const int64_t begin = AlignUp(segments_[first].begin, bytes);
    if (begin >= segments_[first].end) continue;
    uint64_t dead_since = 0;
    int64_t end = begin;
    for (size_t at = first; at < segments_.size() && end < begin + bytes; ++at) {
      const BufferId id = segments_[at].buffer;
      if (id != kNoId && buffers_[id].live) break;
      if (id != kNoId) dead_since = std::max(dead_since, buffers_[id].dead_since);
      end = segments_[at].end;
    }
    if (end < begin + bytes || dead_since >= best.dead_since) continue;
    best = {begin, dead_since};
    if (dead_since == 0) break;  // never used: nothing is better
  }
  return best;
}

void Space::Occupy(int64_t begin, int64_t end, BufferId mine) {
  scratch_.clear();
  bool placed = false;
  const auto place_mine = [&] {
    if (!placed) scratch_.push_back({begin, end, mine});
    placed = true;
  };
  for (const Segment& segment : segments_) {
    if (segment.end <= begin || segment.begin >= end) {
      if (segment.begin >= end) place_mine();
      scratch_.push_back(segment);
      continue;
    }
    // What is left of a segment on either side keeps its hazards, in a piece that no site uses.
    const auto keep = [&](int64_t from, int64_t to) {
      BufferId piece = kNoId;
      if (segment.buffer != kNoId) {
        piece = NewBuffer(kNoId, from, to - from);
        const Buffer& old = buffers_[segment.buffer];
        buffers_[piece].dead_since = old.dead_since;
        buffers_[piece].live = old.live;
        pool_->CopyInto(buffers_[piece].regions, old.regions, from - old.begin, to - old.begin,
                        old.begin - from);
      }
      scratch_.push_back({from, to, piece});
    };
    if (segment.begin < begin) keep(segment.begin, begin);
    place_mine();
    if (segment.end > end) keep(end, segment.end);
    if (segment.buffer != kNoId) {
      Buffer& old = buffers_[segment.buffer];
      pool_->CopyInto(buffers_[mine].regions, old.regions, begin - old.begin, end - old.begin,
                      old.begin - begin);
      if (!old.live) UnlinkDead(segment.buffer);
      pool_->Free(old.regions);
      placed_bytes_ -= old.bytes;
      free_buffers_.push_back(segment.buffer);
    }
  }
  place_mine();
  segments_.swap(scratch_);
}

}  // namespace wt::chip
