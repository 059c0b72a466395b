#include "nki/view.h"

#include "nki/dtype_names.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Status Ended(const View& view) {
  return KernelError(ErrorClass::kOutsideKernel,
                     "tensor '{}' belongs to a kernel that has ended; return it from the kernel to "
                     "get its values",
                     view.storage->name);
}

// The walk over partitions: `offset` and the first stride of the view in units of partitions.
Status SplitPartitions(const View& view, chip::AccessPattern* pattern) {
  const int64_t elements = view.partition_elements();
  if (elements == 0) return Ended(view);
  int64_t start = view.offset / elements, rest = view.offset % elements;
  pattern->start_partition = static_cast<int32_t>(start);
  pattern->offset = rest;
  const int64_t stride = view.strides[0];
  if (view.shape[0] == 1 || stride == elements) {
    pattern->dims[0].step = 1;
    return {};
  }
  if (stride % elements != 0) {
    return KernelError(ErrorClass::kPartitions,
                       "{}: the partition dimension has a stride of {} elements, and a partition "
                       "holds {}; its stride must be {}: every partition is walked alike",
                       Describe(view), stride, elements, elements);
  }
  pattern->dims[0].step = stride / elements;
  return {};
}

// Dimensions of an HBM or on-chip view of more than kMaxDims, merged until they fit.
Status CopyManyDims(const View& view, chip::AccessPattern* pattern) {
  int n = 0;
  for (int i = 0; i < view.rank; ++i) {
    const chip::Dim dim{view.strides[i], view.shape[i]};
    const int first_free = view.on_chip() ? 1 : 0;
    chip::Dim* last = n > first_free ? &pattern->dims[n - 1] : nullptr;
    if (dim.size == 1 && n > first_free) continue;
    if (last && last->step == dim.step * dim.size) {
      last->size *= dim.size;
      last->step = dim.step;
      continue;
    }
    if (n == chip::kMaxDims) {
      return KernelError(ErrorClass::kFreeSize,
                         "{}: {} dimensions that do not continue one another; an instruction walks "
                         "over at most {}",
                         Describe(view), view.rank, chip::kMaxDims);
    }
    pattern->dims[n++] = dim;
  }
  pattern->num_dims = static_cast<uint8_t>(n);
  return {};
}

}  // namespace

int64_t View::size() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= shape[i];
  return product;
}

View WholeView(Storage* storage, std::span<const int64_t> sizes) {
  View view;
  view.storage = storage;
  view.dtype = storage->dtype;
  view.rank = static_cast<uint8_t>(sizes.size());
  int64_t stride = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    view.shape[i] = sizes[i];
    view.strides[i] = stride;
    stride *= sizes[i];
  }
  return view;
}

Status TensorBytes(std::span<const int64_t> shape, DType dtype, int64_t* bytes) {
  *bytes = DTypeBytes(dtype);
  if (shape.empty() || shape.size() > kMaxRank) {
    return KernelError(ErrorClass::kShape, "a tensor of {} dimensions; expected 1 to {}",
                       shape.size(), kMaxRank);
  }
  for (const int64_t size : shape) {
    if (size < 1) {
      return KernelError(ErrorClass::kShape, "shape ({}): every size must be at least 1",
                         fmt::join(shape, ", "));
    }
    if (__builtin_mul_overflow(*bytes, size, bytes) || *bytes > (int64_t{1} << 46)) {
      return KernelError(ErrorClass::kCapacity, "shape ({}): more bytes than any memory has",
                         fmt::join(shape, ", "));
    }
  }
  return {};
}

bool IsContiguous(const View& view) {
  int64_t expected = 1;
  for (int i = view.rank - 1; i >= (view.on_chip() ? 1 : 0); --i) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

Status ToAccessPattern(const View& view, chip::AccessPattern* pattern) {
  if (!view.storage->tensor) return Ended(view);
  pattern->tensor = view.storage->tensor;
  pattern->dtype = StoredType(view.storage->wide, view.dtype);
  pattern->num_dims = view.rank;
  pattern->start_partition = 0;
  pattern->offset = view.offset;
  if (view.rank > chip::kMaxDims) {
    WT_RETURN_IF_ERROR(CopyManyDims(view, pattern));
  } else {
    for (int i = 0; i < view.rank; ++i) pattern->dims[i] = {view.strides[i], view.shape[i]};
  }
  if (view.on_chip()) return SplitPartitions(view, pattern);
  return {};
}

std::string Describe(const View& view) {
  const Storage& storage = *view.storage;
  return fmt::format("{} tensor {}{}{} {}", chip::MemoryName(storage.memory), storage.name,
                     storage.name.empty() ? "" : " ", ShapeText(view.dims()),
                     DTypeLongName(view.dtype));
}

}  // namespace wt::nki
