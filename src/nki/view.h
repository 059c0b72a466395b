// How an NkiTensor sees its storage: shape, strides and offset in elements, as nki.language
// documents them, and the operations that make one view from another. Plain C++, no Python. The
// element at (i0, i1, …) is offset + sum of stride * i elements from the start of the storage; on
// chip a partition counts as many elements as it holds, so that the partition dimension has a
// stride like any other.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "chip/access_pattern.h"
#include "chip/error_class.h"
#include "nki/storage.h"

namespace wt::nki {

inline constexpr int kMaxRank = 8;  // of views; what instructions take is chip.md 3.1

// An offset that is known only when an instruction runs. Who holds the index is the owner's to
// know: the view has only its effect.
enum class Indirect : uint8_t { kNone, kScalar, kVector };

struct View {
  Storage* storage = nullptr;  // borrowed; the owner counts
  DType dtype = DType::kF32;
  uint8_t rank = 0;
  Indirect indirect = Indirect::kNone;
  int8_t indirect_axis = -1;  // the dimension that takes part in the indirection; -1: it is gone
  int8_t indirect_dim = 0;    // which dimension of the tensor the index counts, for messages
  int64_t indirect_unit = 1;  // elements by which the index is multiplied
  int64_t offset = 0;
  std::array<int64_t, kMaxRank> shape;
  std::array<int64_t, kMaxRank> strides;

  bool on_chip() const { return storage->on_chip(); }
  int64_t size() const;
  // Elements of `dtype` that a partition of the storage holds: the stride of the partitions.
  int64_t partition_elements() const {
    return storage->partition_bytes / DTypeBytes(StoredType(storage->wide, dtype));
  }
  std::span<const int64_t> dims() const { return {shape.data(), rank}; }
};

// A dense view of a whole storage. Requires 1 <= rank <= kMaxRank.
View WholeView(Storage* storage, std::span<const int64_t> shape);

// Bytes of a tensor of this shape; refuses shapes that no tensor has.
Status TensorBytes(std::span<const int64_t> shape, DType dtype, int64_t* bytes);

bool IsContiguous(const View& view);

// Refuses what hardware cannot walk over (a partition stride) and what has outlived its kernel.
Status ToAccessPattern(const View& view, chip::AccessPattern* pattern);

std::string Describe(const View& view);  // "sbuf tensor x (128, 512) bfloat16"

// One item of an index expression.
struct IndexItem {
  enum Kind : uint8_t {
    kInteger,
    kSlice,
    kEllipsis,
    kNewAxis,
    kDynamic,       // a register or [1, 1] tensor instead of an integer
    kDynamicSlice,  // nl.ds(register, size)
  };
  Kind kind = kSlice;
  bool has_start = false, has_stop = false;
  bool exact = false;  // nl.ds: all of it must be there; a Python slice ends where the tensor does
  int64_t start = 0, stop = 0, step = 1;  // kInteger: start; kDynamicSlice: stop is the size
};

// The rules of indexing: on chip the partition dimension stays and so do two dimensions at least.
Status Index(const View& view, std::span<const IndexItem> items, View* result);

Status Slice(const View& view, int64_t dim, int64_t start, int64_t end, int64_t step, View* result);
Status Select(const View& view, int64_t dim, int64_t index, View* result);
Status DynamicSelect(const View& view, int64_t dim, View* result);
Status VectorSelect(const View& view, int64_t dim, const View& offsets, View* result);
Status Permute(const View& view, std::span<const int64_t> dims, View* result);
Status Broadcast(const View& view, int64_t dim, int64_t size, View* result);
Status ExpandDim(const View& view, int64_t dim, View* result);
Status SqueezeDim(const View& view, int64_t dim, View* result);
Status ReshapeDim(const View& view, int64_t dim, std::span<const int64_t> sizes, View* result);
Status FlattenDims(const View& view, int64_t first, int64_t last, View* result);
Status Reshape(const View& view, std::span<const int64_t> sizes, View* result);
Status Reinterpret(const View& view, DType dtype, View* result);

struct ApArguments {
  std::vector<chip::Dim> pattern;
  std::optional<int64_t> offset;  // from the start of the storage; none: where the view starts
  Indirect indirect = Indirect::kNone;
  int64_t indirect_dim = 0;
  std::optional<DType> dtype;
};
Status Ap(const View& view, const ApArguments& arguments, View* result);

// ("b", ("h", "w")) as groups of names.
using AxisGroups = std::vector<std::vector<std::string>>;
Status Rearrange(const View& view, const AxisGroups& from, const AxisGroups& to,
                 std::span<const std::pair<std::string, int64_t>> sizes, View* result);

}  // namespace wt::nki
