// The bytes an access pattern touches, as boxes and as exact runs, in coordinates that tensors
// sharing physical memory have in common.
#pragma once

#include <vector>

#include "chip/access_pattern.h"

namespace wt::chip {

struct Run {
  int64_t begin = 0, end = 0;  // bytes
};

// Partitions x bytes. HBM and on-chip tensors without an address: relative to the tensor; with an
// address: physical.
struct Footprint {
  int partition_begin = 0, partition_end = 1;
  int64_t begin = 0, end = 0;  // the box
  std::vector<Run> runs;       // sorted, disjoint, within one partition (HBM: in all)

  bool dense() const { return runs.size() == 1; }
};

Footprint FootprintOf(const AccessPattern& pattern);

// Whether at least one byte belongs to both.
bool Intersect(const Footprint& a, const Footprint& b);
// Whether every byte of `inner` belongs to `outer`.
bool Covers(const Footprint& outer, const Footprint& inner);

}  // namespace wt::chip
