// Operands as boxes of bytes, and transfers as descriptors see them.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "chip/recorder.h"

namespace wt::chip {

namespace {

// Bytes in one piece, walking the free dimensions.
int64_t RunBytes(const AccessPattern& pattern) {
  const AccessPattern merged = pattern.Merged();
  const int64_t bytes = DTypeBytes(pattern.dtype);
  if (merged.num_dims < 2) return bytes;
  const Dim& inner = merged.dims[static_cast<size_t>(merged.num_dims - 1)];
  return inner.step == 1 ? inner.size * bytes : bytes;
}

// HBM as rows of equal pitch, when the pattern is such a box.
bool TakeRows(const AccessPattern& pattern, Access& access) {
  std::array<Dim, kMaxDims> dims;
  int count = 0;
  for (int i = 0; i < pattern.num_dims; ++i) {
    const Dim& dim = pattern.dims[static_cast<size_t>(i)];
    if (dim.step < 0) return false;
    if (dim.size > 1 && dim.step > 0) dims[static_cast<size_t>(count++)] = dim;
  }
  std::sort(dims.begin(), dims.begin() + count,
            [](const Dim& a, const Dim& b) { return a.step < b.step; });
  const int64_t bytes = DTypeBytes(pattern.dtype);
  int64_t run = 1;
  int at = 0;
  for (; at < count && dims[static_cast<size_t>(at)].step == run; ++at) {
    run *= dims[static_cast<size_t>(at)].size;
  }
  if (at == count) return false;  // one piece
  const int64_t pitch = dims[static_cast<size_t>(at)].step;
  int64_t rows = dims[static_cast<size_t>(at)].size;
  for (++at; at < count; ++at) {
    const Dim& dim = dims[static_cast<size_t>(at)];
    if (dim.step % pitch != 0) return false;
    rows += dim.step / pitch * (dim.size - 1);
  }
  const int64_t row = pattern.offset / pitch, column = pattern.offset % pitch;
  const bool fits = column + run <= pitch && row + rows <= std::numeric_limits<int32_t>::max() &&
                    pitch * bytes <= std::numeric_limits<uint32_t>::max();
  if (!fits) return false;
  access.pitch = static_cast<uint32_t>(pitch * bytes);
  access.row_begin = static_cast<int32_t>(row);
  access.row_end = static_cast<int32_t>(row + rows);
  access.byte_begin = column * bytes;
  access.byte_end = (column + run) * bytes;
  return true;
}

bool IsDense(const AccessPattern& pattern) {
  const AccessPattern merged = pattern.Merged();
  return merged.num_dims == 1 || (merged.num_dims == 2 && merged.dims[1].step == 1);
}

}  // namespace

Access AccessOf(const AccessPattern& pattern) {
  Access access;
  access.element_bytes = static_cast<uint8_t>(DTypeBytes(pattern.dtype));
  if (!pattern.on_chip()) {
    if (TakeRows(pattern, access)) return access;
    std::tie(access.byte_begin, access.byte_end) = pattern.ByteRange();
    access.byte_end = std::max(access.byte_end, access.byte_begin + 1);
    return access;
  }
  const bool repeats = pattern.dims[0].step == 0 && pattern.dims[0].size > 1;
  const int64_t rows = repeats ? 1 : pattern.partitions();
  access.broadcast = repeats;
  access.row_begin = pattern.start_partition;
  access.row_end = static_cast<int32_t>(pattern.start_partition + rows);
  std::tie(access.byte_begin, access.byte_end) = pattern.ByteRange();
  const Tensor& tensor = *pattern.tensor;
  access.whole = !repeats && rows == tensor.partitions && IsDense(pattern) &&
                 access.byte_end - access.byte_begin == tensor.partition_bytes;
  return access;
}

DmaShape DmaShapeOf(const AccessPattern& src, const AccessPattern& dst, int64_t alignment_bytes) {
  DmaShape shape;
  shape.bytes = std::max(src.bytes(), dst.bytes());
  shape.descriptor_bytes = std::min(RunBytes(src), RunBytes(dst));
  shape.load = !src.on_chip() && dst.on_chip();
  shape.store = src.on_chip() && !dst.on_chip();
  const AccessPattern* chip_side = dst.on_chip() ? &dst : src.on_chip() ? &src : nullptr;
  if (chip_side != nullptr) {
    shape.partitions = static_cast<int32_t>(chip_side->partitions());
    shape.start_partition = static_cast<int16_t>(chip_side->start_partition);
  }
  const int64_t beat = std::max<int64_t>(alignment_bytes, 1);
  for (const AccessPattern* side : {&src, &dst}) {
    if (side->on_chip()) continue;
    const int64_t bytes = DTypeBytes(side->dtype);
    shape.aligned &= side->offset * bytes % beat == 0 && shape.descriptor_bytes % beat == 0 &&
                     side->dims[0].step * bytes % beat == 0;
  }
  return shape;
}

}  // namespace wt::chip
