#include "chip/check/footprint.h"

#include <algorithm>

namespace wt::chip {
namespace {

// Appends the runs of dims[dim …] starting at byte `at`.
void AppendRuns(const AccessPattern& pattern, size_t dim, int64_t at, int64_t element_bytes,
                std::vector<Run>* runs) {
  if (dim == pattern.num_dims) {
    runs->push_back({at, at + element_bytes});
    return;
  }
  const Dim& d = pattern.dims[dim];
  const bool innermost = dim + 1 == pattern.num_dims;
  if (innermost && (d.step == 1 || d.step == 0)) {
    runs->push_back({at, at + element_bytes * (d.step == 0 ? 1 : d.size)});
    return;
  }
  const int64_t count = d.step == 0 ? 1 : d.size;  // a repeated dimension touches the same bytes
  for (int64_t i = 0; i < count; ++i) {
    AppendRuns(pattern, dim + 1, at + i * d.step * element_bytes, element_bytes, runs);
  }
}

void SortAndMerge(std::vector<Run>* runs) {
  std::sort(runs->begin(), runs->end(),
            [](const Run& a, const Run& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Run& run : *runs) {
    if (kept > 0 && run.begin <= (*runs)[kept - 1].end) {
      (*runs)[kept - 1].end = std::max((*runs)[kept - 1].end, run.end);
    } else {
      (*runs)[kept++] = run;
    }
  }
  runs->resize(kept);
}

bool BoxesOverlap(const Footprint& a, const Footprint& b) {
  return a.partition_begin < b.partition_end && b.partition_begin < a.partition_end &&
         a.begin < b.end && b.begin < a.end;
}

}  // namespace

Footprint FootprintOf(const AccessPattern& pattern) {
  const AccessPattern merged = pattern.Merged();
  const int64_t element_bytes = DTypeBytes(pattern.dtype);
  Footprint footprint;
  const Tensor& tensor = *pattern.tensor;
  const int64_t base = tensor.address ? tensor.address->byte : 0;
  const int64_t start = base + merged.offset * element_bytes;
  if (pattern.on_chip()) {
    footprint.partition_begin =
        (tensor.address ? tensor.address->partition : 0) + merged.start_partition;
    const int64_t partitions = merged.dims[0].step == 0 ? 1 : merged.dims[0].size;
    footprint.partition_end = footprint.partition_begin + static_cast<int>(partitions);
    AppendRuns(merged, 1, start, element_bytes, &footprint.runs);
  } else {
    AppendRuns(merged, 0, start, element_bytes, &footprint.runs);
  }
  SortAndMerge(&footprint.runs);
  footprint.begin = footprint.runs.front().begin;
  footprint.end = footprint.runs.back().end;
  return footprint;
}

bool Intersect(const Footprint& a, const Footprint& b) {
  if (!BoxesOverlap(a, b)) return false;
  if (a.dense() && b.dense()) return true;
  for (size_t i = 0, j = 0; i < a.runs.size() && j < b.runs.size();) {
    if (a.runs[i].begin < b.runs[j].end && b.runs[j].begin < a.runs[i].end) return true;
    a.runs[i].end <= b.runs[j].end ? ++i : ++j;
  }
  return false;
}

bool Covers(const Footprint& outer, const Footprint& inner) {
  if (outer.partition_begin > inner.partition_begin || outer.partition_end < inner.partition_end) {
    return false;
  }
  size_t i = 0;
  for (const Run& run : inner.runs) {
    while (i < outer.runs.size() && outer.runs[i].end < run.end) ++i;
    if (i == outer.runs.size() || outer.runs[i].begin > run.begin) return false;
  }
  return true;
}

}  // namespace wt::chip
