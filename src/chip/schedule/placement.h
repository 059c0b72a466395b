// Where tiles live: buffers of SBUF or PSUM, given out in program order by live range. Executions
// of one declaration (a site) take turns among a few buffers; when memory is full, the buffer that
// has been dead longest goes first. A reused buffer keeps its regions, and with them the hazards of
// the tile that had it before.
#pragma once

#include <cstdint>
#include <vector>

#include "chip/schedule/regions.h"

namespace wt::chip {

using BufferId = uint32_t;
using SiteId = uint32_t;
inline constexpr uint32_t kNoId = ~0u;

struct SpaceShape {
  int64_t bytes = 0;    // of a partition
  int64_t granule = 1;  // sizes are rounded up to it
  int64_t bank = 0;     // a tile lies within a bank or takes whole ones; 0: no banks
  double copies = 1;    // buffers of a site, times what is live at once
  // A site takes what has been dead longest, also from others, before a younger one of its own.
  bool roams = false;
};

class Space {
 public:
  Space(const SpaceShape& shape, RegionPool* regions);

  // A buffer for the next tile of `site`, `bytes` a partition. Never fails: when nothing fits the
  // buffer lies outside and `oversubscribed()` is true from then on.
  BufferId Take(SiteId site, int64_t bytes);
  // Its tile is dead.
  void Release(BufferId buffer);
  // Keeps [begin, end) for tensors that name their address; waits for nobody.
  void Reserve(int64_t begin, int64_t end);

  RegionList& regions(BufferId buffer) { return buffers_[buffer].regions; }
  int64_t begin(BufferId buffer) const { return buffers_[buffer].begin; }

  bool oversubscribed() const { return oversubscribed_; }
  int64_t live_peak() const { return live_peak_; }      // bytes of live tiles
  int64_t placed_peak() const { return placed_peak_; }  // bytes of all buffers that exist

 private:
  struct Buffer {
    int64_t begin = 0, bytes = 0;
    SiteId site = kNoId;  // kNoId: a piece that no site uses
    RegionList regions = kNoRegions;
    uint64_t dead_since = 0;
    bool live = false;
    BufferId next = kNoId;  // in its site's list of dead ones, oldest first
  };
  struct Site {
    int live = 0, max_live = 0, count = 0;
    BufferId oldest = kNoId, newest = kNoId;  // dead ones
  };
  struct Segment {
    int64_t begin = 0, end = 0;
    BufferId buffer = kNoId;  // kNoId: never used
  };
  struct Place {
    int64_t begin = -1;
    uint64_t dead_since = 0;  // of the youngest buffer that has to go
  };

  BufferId NewBuffer(SiteId site, int64_t begin, int64_t bytes);
  BufferId PopDead(Site& site);
  void UnlinkDead(BufferId buffer);
  int64_t AlignUp(int64_t begin, int64_t bytes) const;
  // The place whose buffers have been dead longest; begin < 0: none.
  Place FindPlace(int64_t bytes) const;
  // Clears [begin, end) and makes it the new buffer's.
  void Occupy(int64_t begin, int64_t end, BufferId buffer);
  void GiveLife(BufferId buffer);

  SpaceShape shape_;
  RegionPool* pool_;
  std::vector<Buffer> buffers_;
  std::vector<BufferId> free_buffers_;
  std::vector<Site> sites_;
  std::vector<Segment> segments_, scratch_;  // of the whole space, in order of address
  uint64_t clock_ = 0;
  int64_t live_bytes_ = 0, live_peak_ = 0, placed_bytes_ = 0, placed_peak_ = 0;
  bool oversubscribed_ = false;
};

}  // namespace wt::chip
