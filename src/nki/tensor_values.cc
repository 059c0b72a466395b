#include "nki/tensor_values.h"

#include <cstring>

#include "chip/convert.h"
#include "chip/shadow.h"
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

// Bytes of a tensor, row by row, and whether they were written.
struct Memory {
  const chip::Tensor& tensor;
  int64_t item;

  // `byte` counts through all partitions.
  void Read(int64_t byte, std::byte* to, int64_t* unwritten) const {
    const int64_t row = byte / tensor.partition_bytes, column = byte % tensor.partition_bytes;
    const std::byte* from = tensor.data + row * tensor.data_stride + column;
    if (Written(row, column)) {
      std::memcpy(to, from, static_cast<size_t>(item));
      return;
    }
    std::memset(to, 0xff, static_cast<size_t>(item));
    ++*unwritten;
  }

  bool Written(int64_t row, int64_t column) const {
    if (!tensor.shadow || tensor.shadow->written.all()) return true;
    const int64_t first_row = tensor.address ? tensor.address->partition : 0;
    const int64_t first = tensor.address ? tensor.address->byte : 0;
    const int64_t begin = first + column, end = begin + item;
    return tensor.shadow->written.FirstOther(first_row + row, begin, end, true) == end;
  }
};

// Whether the view's elements lie one after the other.
bool Dense(const View& view) {
  int64_t expected = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

// Whether all bytes of the tensor are there and follow one another.
bool WholeAndDense(const chip::Tensor& tensor) {
  const bool written = !tensor.shadow || tensor.shadow->written.all();
  return written && (tensor.partitions == 1 || tensor.data_stride == tensor.partition_bytes);
}

}  // namespace

Result<FetchedTensor> Fetch(const View& view) {
  FetchedTensor fetched;
  fetched.array.dtype = StoredType(view.storage->wide, view.dtype);
  fetched.array.shape.assign(view.shape.begin(), view.shape.begin() + view.rank);
  const chip::Tensor* tensor = view.storage->tensor;
  if (!tensor) {
    return KernelError(ErrorClass::kOutsideKernel, "{}: its kernel has ended", Describe(view));
  }
  if (view.indirect != Indirect::kNone) {
    return KernelError(ErrorClass::kUnsupported,
                       "{} is chosen by an index at run time; copy it before it is looked at",
                       Describe(view));
  }
  fetched.array.origin = tensor->data;
  if (!tensor->data) return fetched;
  const int64_t item = DTypeBytes(fetched.array.dtype);
  const int64_t total = tensor->partition_bytes * tensor->partitions;
  int64_t last = view.offset;
  for (int i = 0; i < view.rank; ++i) {
    last += std::max<int64_t>(view.strides[i], 0) * (view.shape[i] - 1);
  }
  if ((last + 1) * item > total) {
    return KernelError(ErrorClass::kOutOfBounds, "{} leaves its storage of {} bytes",
                       Describe(view), total);
  }
  fetched.array.bytes.resize(static_cast<size_t>(view.size() * item));
  if (Dense(view) && WholeAndDense(*tensor)) {
    std::memcpy(fetched.array.bytes.data(), tensor->data + view.offset * item,
                fetched.array.bytes.size());
    return fetched;
  }
  const Memory memory{*tensor, item};
  std::array<int64_t, kMaxRank> index{};
  std::byte* to = fetched.array.bytes.data();
  int64_t element = view.offset;
  for (int64_t n = view.size(); n > 0; --n, to += item) {
    memory.Read(element * item, to, &fetched.unwritten);
    for (int i = view.rank - 1; i >= 0; --i) {
      element += view.strides[i];
      if (++index[i] < view.shape[i]) break;
      element -= view.strides[i] * view.shape[i];
      index[i] = 0;
    }
  }
  return fetched;
}

int AllTrue(TensorObject* self) {
  const auto fetched = Fetch(self->view);
  if (!fetched.ok()) {
    Raise(fetched.status());
    return -1;
  }
  const HostArray& array = fetched->array;
  const int64_t item = DTypeBytes(array.dtype);
  const bool is_float = IsFloat(array.dtype);
  for (size_t at = 0; at + item <= array.bytes.size(); at += item) {
    float number = 0;
    int64_t integer = 0;
    if (is_float) {
      chip::LoadFloats(array.dtype, array.bytes.data() + at, 1, 1, &number);
    } else {
      chip::LoadInts(array.dtype, array.bytes.data() + at, 1, 1, &integer);
    }
    if (number == 0 && integer == 0) return 0;
  }
  return 1;
}

}  // namespace wt::nki
