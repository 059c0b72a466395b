// Hazards in HBM: a tensor's rows in buckets, each with regions of its own, since a kernel may
// touch thousands of tiles of one tensor.
#pragma once

#include <algorithm>
#include <vector>

#include "chip/schedule/regions.h"

namespace wt::chip {

class HbmRegions {
 public:
  // `pitch`: bytes of a row, by which the tensor's tiles lie side by side.
  HbmRegions(int64_t bytes, int64_t pitch, int32_t rows_at_once)
      : pitch_(std::max<int64_t>(pitch, 1)) {
    const int64_t rows = bytes / pitch_ + 1;
    while ((int64_t{1} << shift_) < rows_at_once || (rows >> shift_) >= kMaxBuckets) ++shift_;
    buckets_.assign(static_cast<size_t>(rows >> shift_) + 1, kNoRegions);
  }

  // The access in this tensor's rows. Other pitches are widened to whole rows.
  Box Canonical(const Access& access) const {
    if (access.pitch == pitch_) {
      return {access.row_begin, access.row_end, access.byte_begin, access.byte_end};
    }
    int64_t begin = access.byte_begin, end = access.byte_end;
    if (access.pitch != 0) {
      begin += int64_t{access.row_begin} * access.pitch;
      end += int64_t{access.row_end - 1} * access.pitch;
    }
    const int64_t first = begin / pitch_, last = (end - 1) / pitch_;
    const auto row_begin = static_cast<int32_t>(first), row_end = static_cast<int32_t>(last + 1);
    if (first == last) return {row_begin, row_end, begin - first * pitch_, end - first * pitch_};
    return {row_begin, row_end, 0, pitch_};
  }

  // Gives each bucket that `box` meets, with the part of `box` in it, to `visit`.
  template <class Visit>
  void ForEachBucket(const Box& box, const Visit& visit) {
    const size_t last =
        std::min(static_cast<size_t>((box.row_end - 1) >> shift_), buckets_.size() - 1);
    for (auto at = static_cast<size_t>(box.row_begin >> shift_); at <= last; ++at) {
      Box part = box;
      const auto begin = static_cast<int64_t>(at << shift_);
      part.row_begin = static_cast<int32_t>(std::max<int64_t>(box.row_begin, begin));
      part.row_end =
          static_cast<int32_t>(std::min<int64_t>(box.row_end, begin + (int64_t{1} << shift_)));
      visit(buckets_[at], part);
    }
  }
  std::vector<RegionList>& buckets() { return buckets_; }

 private:
  static constexpr int64_t kMaxBuckets = 4096;
  int64_t pitch_;
  int shift_ = 0;
  std::vector<RegionList> buckets_;
};

}  // namespace wt::chip
