// The view methods of NkiTensor. Each checks its own constraint and says what would be allowed.
#include <algorithm>

#include "nki/dtype_names.h"
#include "nki/view.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

// A dimension of the view, negative ones counted from the end.
Status CheckDim(const View& view, const char* method, int64_t dim, int64_t rank, int* result) {
  const int64_t given = dim;
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) {
    return KernelError(ErrorClass::kShape, "{}: dimension {} of {}; expected 0 to {}", method,
                       given, Describe(view), rank - 1);
  }
  *result = static_cast<int>(dim);
  return {};
}

// Dimension 0 of an on-chip tensor and of a vector_select is tied to the partitions.
bool FirstIsFixed(const View& view) { return view.on_chip() || view.indirect == Indirect::kVector; }

Status RefuseFirst(const View& view, const char* method, int dim) {
  if (dim != 0 || !FirstIsFixed(view)) return {};
  return KernelError(ErrorClass::kPartitions,
                     "{}: dimension 0 of {} is the partition dimension and stays as it is; name a "
                     "free dimension, or move data with an instruction",
                     method, Describe(view));
}

Status RefuseIndirect(const View& view, const char* method, int dim) {
  if (view.indirect == Indirect::kNone || view.indirect_axis != dim) return {};
  return KernelError(
      ErrorClass::kUnsupported,
      "{}: dimension {} of {} is chosen by an index at run time and cannot be sliced "
      "or selected again",
      method, dim, Describe(view));
}

Status RefuseSecondIndirect(const View& view, const char* method) {
  if (view.indirect == Indirect::kNone) return {};
  return KernelError(ErrorClass::kUnsupported,
                     "{}: {} already has an index known only at run time; one a view is allowed",
                     method, Describe(view));
}

Status TooManyDims(const View& view, const char* method, int64_t rank) {
  return KernelError(ErrorClass::kFreeSize, "{}: {} dimensions from {}; a view has at most {}",
                     method, rank, Describe(view), kMaxRank);
}

// Under NKI_PRECISE_FP=0 there are no bits to reinterpret.
Status RefuseWide(const View& view, const char* method, DType dtype) {
  const bool wide = view.storage->wide;
  const bool changed =
      StoredType(wide, dtype) != dtype || StoredType(wide, view.dtype) != view.dtype;
  if (!changed || dtype == view.dtype) return {};
  return KernelError(
      ErrorClass::kUnsupported,
      "{}: {} as {}; with NKI_PRECISE_FP=0 both are float32 and have no bits of their "
      "own: simulate with precise floats",
      method, Describe(view), DTypeLongName(dtype));
}

// Tiles at an address of their own begin at multiples of their elements; wider ones may not.
Status RefuseUnaligned(const View& view, const char* method, DType dtype) {
  const chip::Tensor* tensor = view.storage->tensor;
  const int64_t bytes = DTypeBytes(dtype);
  if (!tensor || !tensor->address || tensor->address->byte % bytes == 0) return {};
  return KernelError(ErrorClass::kShape,
                     "{}: {} begins at byte {} of its partitions; {} needs a multiple of {}",
                     method, Describe(view), tensor->address->byte, DTypeLongName(dtype), bytes);
}

void RemoveDim(View* view, int dim) {
  for (int i = dim; i + 1 < view->rank; ++i) {
    view->shape[i] = view->shape[i + 1];
    view->strides[i] = view->strides[i + 1];
  }
  --view->rank;
  if (view->indirect_axis == dim) {
    view->indirect_axis = -1;
  } else if (view->indirect_axis > dim) {
    --view->indirect_axis;
  }
}

// Requires view->rank < kMaxRank.
void InsertDim(View* view, int dim, int64_t size, int64_t stride) {
  for (int i = view->rank; i > dim; --i) {
    view->shape[i] = view->shape[i - 1];
    view->strides[i] = view->strides[i - 1];
  }
  view->shape[dim] = size;
  view->strides[dim] = stride;
  ++view->rank;
  if (view->indirect_axis >= dim) ++view->indirect_axis;
}

Status Product(const char* method, std::span<const int64_t> sizes, int64_t* product) {
  *product = 1;
  for (int64_t size : sizes) {
    if (size < 1) {
      return KernelError(ErrorClass::kShape, "{}: a size of {}; expected sizes of at least 1{}",
                         method, size, size == -1 ? ", and one -1 at most" : "");
    }
    if (__builtin_mul_overflow(*product, size, product)) {
      return KernelError(ErrorClass::kShape, "{}: the sizes multiply to more than 2^63", method);
    }
  }
  return {};
}

// Replaces the one -1 among `sizes` so that they multiply to `total`, and checks that they do.
Status CompleteSizes(const View& view, const char* method, std::span<const int64_t> sizes,
                     int64_t total, std::vector<int64_t>* result) {
  result->assign(sizes.begin(), sizes.end());
  const auto open = std::find(result->begin(), result->end(), -1);
  if (open != result->end()) *open = 1;
  int64_t product = 1;
  WT_RETURN_IF_ERROR(Product(method, *result, &product));
  if (open != result->end()) *open = total / product;
  const bool fits = open != result->end() ? total % product == 0 && *open > 0 : product == total;
  if (fits) return {};
  return KernelError(ErrorClass::kShape,
                     "{}: ({}) is not {} elements, as {} has there; the sizes "
                     "must multiply to it",
                     method, fmt::join(sizes, ", "), total, Describe(view));
}

}  // namespace

Status Slice(const View& view, int64_t dim, int64_t start, int64_t end, int64_t step,
             View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "slice", dim, view.rank, &d));
  WT_RETURN_IF_ERROR(RefuseIndirect(view, "slice", d));
  if (step < 1) {
    return KernelError(ErrorClass::kShape, "slice: a step of {}; expected at least 1", step);
  }
  if (start < 0 || end > view.shape[d]) {
    return KernelError(
        ErrorClass::kOutOfBounds,
        "slice: elements {} to {} of dimension {} of {}, which has {}; end the slice "
        "at min(end, {})",
        start, end, d, Describe(view), view.shape[d], view.shape[d]);
  }
  if (start >= end) {
    return KernelError(ErrorClass::kShape,
                       "slice: elements {} to {} of dimension {} of {} are none; a slice has at "
                       "least one element",
                       start, end, d, Describe(view));
  }
  *result = view;
  result->offset += start * view.strides[d];
  result->shape[d] = (end - start + step - 1) / step;
  result->strides[d] = view.strides[d] * step;
  return {};
}

Status Select(const View& view, int64_t dim, int64_t index, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "select", dim, view.rank, &d));
  WT_RETURN_IF_ERROR(RefuseIndirect(view, "select", d));
  const int64_t at = index < 0 ? index + view.shape[d] : index;
  if (at < 0 || at >= view.shape[d]) {
    return KernelError(ErrorClass::kOutOfBounds,
                       "select: element {} of dimension {} of {}; "
                       "expected 0 to {}",
                       index, d, Describe(view), view.shape[d] - 1);
  }
  *result = view;
  result->offset += at * view.strides[d];
  result->shape[d] = 1;
  if (d > 0 || !FirstIsFixed(view)) {
    if (view.rank > (view.on_chip() ? 2 : 1)) {
      RemoveDim(result, d);
    } else {
      result->strides[d] = 1;
    }
  }
  return {};
}

Status DynamicSelect(const View& view, int64_t dim, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "select", dim, view.rank, &d));
  WT_RETURN_IF_ERROR(RefuseSecondIndirect(view, "select"));
  WT_RETURN_IF_ERROR(RefuseFirst(view, "select by a register", d));
  *result = view;
  result->indirect = Indirect::kScalar;
  result->indirect_dim = static_cast<int8_t>(d);
  result->indirect_unit = view.strides[d];
  result->indirect_axis = static_cast<int8_t>(d);
  result->shape[d] = 1;
  if (view.rank > (view.on_chip() ? 2 : 1)) RemoveDim(result, d);
  return {};
}

Status VectorSelect(const View& view, int64_t dim, const View& offsets, View* result) {
  WT_RETURN_IF_ERROR(RefuseSecondIndirect(view, "vector_select"));
  if (dim != 0) {
    return KernelError(ErrorClass::kShape,
                       "vector_select: dimension {}; only dimension 0 can be "
                       "gathered",
                       dim);
  }
  if (view.on_chip()) {
    return KernelError(ErrorClass::kMemory,
                       "vector_select: {}; rows are gathered from HBM, and "
                       "within a partition by nc_n_gather or local_gather",
                       Describe(view));
  }
  if (!offsets.on_chip()) {
    return KernelError(ErrorClass::kMemory,
                       "vector_select: the offsets are {}; expected an SBUF "
                       "tensor of shape (partitions, 1)",
                       Describe(offsets));
  }
  *result = view;
  result->indirect = Indirect::kVector;
  result->indirect_dim = 0;
  result->indirect_axis = 0;
  result->indirect_unit = view.strides[0];
  result->shape[0] = offsets.shape[0];
  return {};
}

Status Permute(const View& view, std::span<const int64_t> dims, View* result) {
  std::array<bool, kMaxRank> seen{};
  if (dims.size() != view.rank) {
    return KernelError(ErrorClass::kShape,
                       "permute: {} dimensions named of {}; expected each of 0 "
                       "to {} once",
                       dims.size(), Describe(view), view.rank - 1);
  }
  *result = view;
  for (int i = 0; i < view.rank; ++i) {
    int d = 0;
    WT_RETURN_IF_ERROR(CheckDim(view, "permute", dims[i], view.rank, &d));
    if (seen[d]) {
      return KernelError(ErrorClass::kShape,
                         "permute: dimension {} is named twice; expected each "
                         "of 0 to {} once",
                         d, view.rank - 1);
    }
    seen[d] = true;
    if (i == 0 && d != 0) WT_RETURN_IF_ERROR(RefuseFirst(view, "permute", 0));
    result->shape[i] = view.shape[d];
    result->strides[i] = view.strides[d];
    if (view.indirect_axis == d) result->indirect_axis = static_cast<int8_t>(i);
  }
  return {};
}

Status Broadcast(const View& view, int64_t dim, int64_t size, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "broadcast", dim, view.rank, &d));
  WT_RETURN_IF_ERROR(RefuseFirst(view, "broadcast", d));
  if (size < 1 || (view.shape[d] != 1 && view.shape[d] != size)) {
    return KernelError(ErrorClass::kShape,
                       "broadcast: dimension {} of {} to {}; only a dimension "
                       "of size 1 can be repeated",
                       d, Describe(view), size);
  }
  *result = view;
  if (view.shape[d] == size) return {};
  result->shape[d] = size;
  result->strides[d] = 0;
  return {};
}

Status ExpandDim(const View& view, int64_t dim, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "expand_dim", dim, view.rank + 1, &d));
  WT_RETURN_IF_ERROR(RefuseFirst(view, "expand_dim", d));
  if (view.rank == kMaxRank) return TooManyDims(view, "expand_dim", view.rank + 1);
  *result = view;
  const int64_t stride = d < view.rank ? view.strides[d] * view.shape[d] : 1;
  InsertDim(result, d, 1, stride);
  return {};
}

Status SqueezeDim(const View& view, int64_t dim, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "squeeze_dim", dim, view.rank, &d));
  WT_RETURN_IF_ERROR(RefuseFirst(view, "squeeze_dim", d));
  if (view.shape[d] != 1 || view.rank == 1) {
    return KernelError(ErrorClass::kShape,
                       "squeeze_dim: dimension {} of {}; only a dimension of "
                       "size 1 can go, and not the last one left",
                       d, Describe(view));
  }
  *result = view;
  RemoveDim(result, d);
  return {};
}

Status ReshapeDim(const View& view, int64_t dim, std::span<const int64_t> sizes, View* result) {
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "reshape_dim", dim, view.rank, &d));
  std::vector<int64_t> full;
  WT_RETURN_IF_ERROR(CompleteSizes(view, "reshape_dim", sizes, view.shape[d], &full));
  if (full.size() == 1) {
    *result = view;
    return {};
  }
  WT_RETURN_IF_ERROR(RefuseFirst(view, "reshape_dim", d));
  WT_RETURN_IF_ERROR(RefuseIndirect(view, "reshape_dim", d));
  const int64_t rank = view.rank - 1 + static_cast<int64_t>(full.size());
  if (rank > kMaxRank) return TooManyDims(view, "reshape_dim", rank);
  if (full.empty()) return SqueezeDim(view, d, result);
  *result = view;
  RemoveDim(result, d);
  int64_t stride = view.strides[d];
  for (size_t i = full.size(); i-- > 0;) {
    InsertDim(result, d, full[i], stride);
    stride *= full[i];
  }
  return {};
}

Status FlattenDims(const View& view, int64_t first, int64_t last, View* result) {
  int from = 0, to = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "flatten_dims", first, view.rank, &from));
  WT_RETURN_IF_ERROR(CheckDim(view, "flatten_dims", last, view.rank, &to));
  if (from > to) {
    return KernelError(ErrorClass::kShape,
                       "flatten_dims: from dimension {} to {}; the first must "
                       "not be after the last",
                       from, to);
  }
  *result = view;
  if (from == to) return {};
  WT_RETURN_IF_ERROR(RefuseFirst(view, "flatten_dims", from));
  int64_t size = 1, stride = 0;
  bool any = false;
  for (int i = to; i >= from; --i) {
    WT_RETURN_IF_ERROR(RefuseIndirect(view, "flatten_dims", i));
    if (view.shape[i] == 1) continue;
    if (!any) {
      stride = view.strides[i];
      any = true;
    } else if (view.strides[i] != stride * size) {
      return KernelError(ErrorClass::kShape,
                         "flatten_dims: dimensions {} to {} of {} do not continue one another "
                         "(strides {}); copy the tile first",
                         from, to, Describe(view),
                         fmt::join(std::span(view.strides).subspan(from, to - from + 1), ", "));
    }
    size *= view.shape[i];
  }
  for (int i = to; i > from; --i) RemoveDim(result, i);
  result->shape[from] = size;
  result->strides[from] = any ? stride : view.strides[to];
  return {};
}

namespace {

// Strides of `sizes` over the same elements, without a copy; false when there are none.
bool StridesFor(const View& view, int first, std::span<const int64_t> sizes, int64_t* strides) {
  int old_dim = first;
  size_t next = 0;
  while (next < sizes.size()) {
    while (old_dim < view.rank && view.shape[old_dim] == 1) ++old_dim;
    if (sizes[next] == 1) {
      strides[next++] = 1;
      continue;
    }
    // The least run of old dimensions and of new ones that hold equally many elements.
    int old_end = old_dim + 1;
    size_t new_end = next + 1;
    int64_t old_count = view.shape[old_dim], new_count = sizes[next];
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= view.shape[old_end++];
      } else {
        new_count *= sizes[new_end++];
      }
    }
    int64_t stride = 0, count = 1;
    for (int i = old_end - 1; i >= old_dim; --i) {
      if (view.shape[i] == 1) continue;
      if (count == 1)
        stride = view.strides[i];
      else if (view.strides[i] != stride * count)
        return false;
      count *= view.shape[i];
    }
    for (size_t i = new_end; i-- > next;) {
      strides[i] = stride;
      stride *= sizes[i];
    }
    old_dim = old_end;
    next = new_end;
  }
  return true;
}

}  // namespace

Status Reshape(const View& view, std::span<const int64_t> sizes, View* result) {
  std::vector<int64_t> full;
  WT_RETURN_IF_ERROR(CompleteSizes(view, "reshape", sizes, view.size(), &full));
  if (full.size() > kMaxRank) {
    return TooManyDims(view, "reshape", static_cast<int64_t>(full.size()));
  }
  if (full.empty()) full.push_back(1);
  const int fixed = FirstIsFixed(view) ? 1 : 0;
  if (fixed && full[0] != view.shape[0]) {
    return KernelError(
        ErrorClass::kPartitions,
        "reshape: {} to ({}); the partition dimension stays as it is: the first size "
        "must be {}",
        Describe(view), fmt::join(full, ", "), view.shape[0]);
  }
  if (!fixed && view.indirect_axis >= 0) {
    WT_RETURN_IF_ERROR(RefuseIndirect(view, "reshape", view.indirect_axis));
  }
  *result = view;
  const auto rest = std::span<const int64_t>(full).subspan(fixed);
  if (!StridesFor(view, fixed, rest, result->strides.data() + fixed)) {
    return KernelError(ErrorClass::kShape,
                       "reshape: {} with strides ({}) to ({}) is not possible without moving data; "
                       "copy the tile first",
                       Describe(view), fmt::join(std::span(view.strides).first(view.rank), ", "),
                       fmt::join(full, ", "));
  }
  result->rank = static_cast<uint8_t>(full.size());
  std::copy(full.begin(), full.end(), result->shape.begin());
  return {};
}

Status Reinterpret(const View& view, DType dtype, View* result) {
  WT_RETURN_IF_ERROR(RefuseSecondIndirect(view, "view"));
  WT_RETURN_IF_ERROR(RefuseWide(view, "view", dtype));
  WT_RETURN_IF_ERROR(RefuseUnaligned(view, "view", dtype));
  const int64_t from = DTypeBytes(view.dtype), to = DTypeBytes(dtype);
  *result = view;
  result->dtype = dtype;
  if (from == to) return {};
  const int last = view.rank - 1;
  const bool dense = view.strides[last] == 1 || view.shape[last] == 1;
  if (!dense || (view.on_chip() && view.rank == 1)) {
    return KernelError(ErrorClass::kShape,
                       "view: the last dimension of {} is not contiguous; only "
                       "contiguous elements can be read as {}",
                       Describe(view), DTypeLongName(dtype));
  }
  result->strides[last] = 1;
  if (from > to) {
    const int64_t ratio = from / to;
    for (int i = 0; i < last; ++i) result->strides[i] *= ratio;
    result->shape[last] *= ratio;
    result->offset *= ratio;
    return {};
  }
  const int64_t ratio = to / from;
  bool fits = view.shape[last] % ratio == 0 && view.offset % ratio == 0;
  for (int i = 0; i < last; ++i) {
    fits = fits && (view.strides[i] % ratio == 0 || view.shape[i] == 1);
    result->strides[i] /= ratio;
  }
  result->shape[last] /= ratio;
  result->offset /= ratio;
  if (fits) return {};
  return KernelError(ErrorClass::kShape,
                     "view: {} as {}; offset, last size and the other strides "
                     "must be multiples of {}",
                     Describe(view), DTypeLongName(dtype), ratio);
}

Status Ap(const View& view, const ApArguments& arguments, View* result) {
  const auto& pattern = arguments.pattern;
  if (pattern.empty() || pattern.size() > kMaxRank) {
    return KernelError(ErrorClass::kShape,
                       "ap: a pattern of {} pairs; expected 1 to {} pairs of "
                       "[stride, size], the partition dimension first",
                       pattern.size(), kMaxRank);
  }
  const DType dtype = arguments.dtype.value_or(view.dtype);
  WT_RETURN_IF_ERROR(RefuseWide(view, "ap", dtype));
  WT_RETURN_IF_ERROR(RefuseUnaligned(view, "ap", dtype));
  const int64_t from = DTypeBytes(view.dtype), to = DTypeBytes(dtype);
  *result = view;
  result->dtype = dtype;
  result->rank = static_cast<uint8_t>(pattern.size());
  result->offset = arguments.offset.value_or(view.offset * from / to);
  result->indirect = Indirect::kNone;
  if (result->offset < 0) {
    return KernelError(ErrorClass::kOutOfBounds, "ap: an offset of {}; expected at least 0",
                       result->offset);
  }
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].size < 1) {
      return KernelError(ErrorClass::kShape,
                         "ap: pair {} of the pattern has the size {}; expected "
                         "[stride, size] with a size of at least 1",
                         i, pattern[i].size);
    }
    result->shape[i] = pattern[i].size;
    result->strides[i] = pattern[i].step;
  }
  if (arguments.indirect == Indirect::kNone) return {};
  int d = 0;
  WT_RETURN_IF_ERROR(CheckDim(view, "ap: indirect_dim", arguments.indirect_dim, view.rank, &d));
  if (view.on_chip() && arguments.indirect == Indirect::kVector) {
    return KernelError(ErrorClass::kMemory,
                       "ap: vector_offset on {}; rows are gathered from HBM, "
                       "and within a partition by nc_n_gather or local_gather",
                       Describe(view));
  }
  if (view.on_chip()) WT_RETURN_IF_ERROR(RefuseFirst(view, "ap: indirect_dim", d));
  if (arguments.indirect == Indirect::kVector && d != 0) {
    return KernelError(ErrorClass::kUnsupported,
                       "ap: vector_offset with indirect_dim={}; only 0 "
                       "is supported",
                       d);
  }
  result->indirect = arguments.indirect;
  result->indirect_dim = static_cast<int8_t>(d);
  result->indirect_axis = arguments.indirect == Indirect::kVector ? 0 : -1;
  result->indirect_unit = view.strides[d] * from / to;
  return {};
}

}  // namespace wt::nki
