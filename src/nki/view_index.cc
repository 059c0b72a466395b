// Index expressions: t[0:128, i, ...]. One pass over the items, since kernels index three operands
// an instruction.
#include "nki/view.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

Status TooManyItems(const View& view, int count) {
  return KernelError(ErrorClass::kShape, "index of {} items into {}; expected at most {}", count,
                     Describe(view), view.rank);
}

Status OutOfRange(const View& view, int dim, int64_t index) {
  return KernelError(ErrorClass::kOutOfBounds,
                     "index {} in dimension {} of {}; expected {} to {}, negative ones count from "
                     "the end",
                     index, dim, Describe(view), -view.shape[dim], view.shape[dim] - 1);
}

Status BadSlice(const View& view, int dim, int64_t start, int64_t stop, int64_t step) {
  const int64_t size = view.shape[dim];
  if (step < 1) {
    return KernelError(ErrorClass::kShape,
                       "slice {}:{}:{} in dimension {} of {}; expected a step of at least 1", start,
                       stop, step, dim, Describe(view));
  }
  if (start < 0 || stop > size) {
    return KernelError(
        ErrorClass::kOutOfBounds,
        "slice {}:{} in dimension {} of {} leaves its {} elements; end a partial tile "
        "at min(stop, {})",
        start, stop, dim, Describe(view), size, size);
  }
  return KernelError(ErrorClass::kShape,
                     "slice {}:{} in dimension {} of {} is empty; a slice has at least one element",
                     start, stop, dim, Describe(view));
}

// Appends what remains of one dimension.
struct Builder {
  const View& view;
  View* out;
  int rank = 0;
  int dim = 0;  // of `view`

  Status Keep(int64_t offset, int64_t size, int64_t stride) {
    if (rank == kMaxRank) {
      return KernelError(ErrorClass::kFreeSize, "index: more than {} dimensions from {}", kMaxRank,
                         Describe(view));
    }
    out->offset += offset;
    out->shape[rank] = size;
    out->strides[rank] = stride;
    ++rank;
    return {};
  }

  Status KeepWhole() {
    if (view.indirect_axis == dim) out->indirect_axis = static_cast<int8_t>(rank);
    WT_RETURN_IF_ERROR(Keep(0, view.shape[dim], view.strides[dim]));
    ++dim;
    return {};
  }

  Status CheckAxis() const {
    if (dim >= view.rank) return TooManyItems(view, dim + 1);
    if (view.indirect == Indirect::kNone || view.indirect_axis != dim) return {};
    return KernelError(ErrorClass::kUnsupported,
                       "dimension {} of {} is chosen by an index at run time and cannot be indexed "
                       "again",
                       dim, Describe(view));
  }

  Status Integer(const IndexItem& item) {
    WT_RETURN_IF_ERROR(CheckAxis());
    const int64_t at = item.start < 0 ? item.start + view.shape[dim] : item.start;
    if (at < 0 || at >= view.shape[dim]) return OutOfRange(view, dim, item.start);
    const int64_t stride = view.strides[dim];
    if (dim == 0 && view.on_chip()) {
      WT_RETURN_IF_ERROR(Keep(at * stride, 1, stride));
    } else {
      out->offset += at * stride;
    }
    ++dim;
    return {};
  }

  Status Slice(const IndexItem& item) {
    if (!item.has_start && !item.has_stop && item.step == 1) {
      if (dim >= view.rank) return TooManyItems(view, dim + 1);
      return KeepWhole();
    }
    WT_RETURN_IF_ERROR(CheckAxis());
    const int64_t size = view.shape[dim];
    int64_t start = item.has_start ? item.start : 0, stop = item.has_stop ? item.stop : size;
    if (start < 0) start += size;
    if (stop < 0) stop += size;
    if (!item.exact && stop > size && start < size) stop = size;
    if (item.step < 1 || start < 0 || stop > size || start >= stop) {
      return BadSlice(view, dim, start, stop, item.step);
    }
    const int64_t stride = view.strides[dim];
    const int64_t count = item.step == 1 ? stop - start : (stop - start - 1) / item.step + 1;
    WT_RETURN_IF_ERROR(Keep(start * stride, count, stride * item.step));
    ++dim;
    return {};
  }

  // A register as index (size 0: the dimension goes) or as the start of nl.ds.
  Status Dynamic(int64_t size) {
    WT_RETURN_IF_ERROR(CheckAxis());
    if (out->indirect != Indirect::kNone) {
      return KernelError(ErrorClass::kUnsupported,
                         "{} already has an index known only at run time; one a view is allowed",
                         Describe(view));
    }
    if (dim == 0 && view.on_chip()) {
      return KernelError(ErrorClass::kPartitions,
                         "{}: a register cannot choose partitions; index a free dimension",
                         Describe(view));
    }
    if (size > view.shape[dim]) {
      return KernelError(ErrorClass::kOutOfBounds, "ds of {} elements in dimension {} of {}", size,
                         dim, Describe(view));
    }
    out->indirect = Indirect::kScalar;
    out->indirect_dim = static_cast<int8_t>(dim);
    out->indirect_unit = view.strides[dim];
    out->indirect_axis = size > 0 ? static_cast<int8_t>(rank) : int8_t{-1};
    if (size > 0) WT_RETURN_IF_ERROR(Keep(0, size, view.strides[dim]));
    ++dim;
    return {};
  }

  Status NewAxis() {
    if (rank == 0 && (view.on_chip() || view.indirect == Indirect::kVector)) {
      return KernelError(ErrorClass::kPartitions,
                         "None before dimension 0 of {}; the partition dimension stays the first",
                         Describe(view));
    }
    return Keep(0, 1, 1);
  }
};

Status Apply(Builder* builder, const IndexItem& item, int hidden) {
  switch (item.kind) {
    case IndexItem::kInteger:
      return builder->Integer(item);
    case IndexItem::kSlice:
      return builder->Slice(item);
    case IndexItem::kEllipsis:
      for (int i = 0; i < hidden; ++i) WT_RETURN_IF_ERROR(builder->KeepWhole());
      return {};
    case IndexItem::kNewAxis:
      return builder->NewAxis();
    case IndexItem::kDynamic:
      return builder->Dynamic(0);
    case IndexItem::kDynamicSlice:
      return builder->Dynamic(item.stop);
  }
  return {};
}

}  // namespace

Status Index(const View& view, std::span<const IndexItem> items, View* result) {
  int consuming = 0, ellipses = 0;
  for (const IndexItem& item : items) {
    consuming += item.kind != IndexItem::kEllipsis && item.kind != IndexItem::kNewAxis;
    ellipses += item.kind == IndexItem::kEllipsis;
  }
  if (consuming > view.rank) return TooManyItems(view, consuming);
  if (ellipses > 1) {
    return KernelError(ErrorClass::kShape, "index with {} ellipses into {}; expected one at most",
                       ellipses, Describe(view));
  }
  result->storage = view.storage;
  result->dtype = view.dtype;
  result->indirect = view.indirect;
  result->indirect_axis = -1;
  result->indirect_dim = view.indirect_dim;
  result->indirect_unit = view.indirect_unit;
  result->offset = view.offset;
  Builder builder{view, result};
  for (const IndexItem& item : items) {
    WT_RETURN_IF_ERROR(Apply(&builder, item, view.rank - consuming));
  }
  while (builder.dim < view.rank) WT_RETURN_IF_ERROR(builder.KeepWhole());
  const int least = view.on_chip() && view.rank > 1 ? 2 : 1;
  while (builder.rank < least) WT_RETURN_IF_ERROR(builder.Keep(0, 1, 1));
  result->rank = static_cast<uint8_t>(builder.rank);
  return {};
}

}  // namespace wt::nki
