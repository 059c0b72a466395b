#include "chip/rows.h"

#include <algorithm>
#include <type_traits>

#include "chip/convert.h"

namespace wt::chip {

namespace {
constexpr int64_t kBlockFloats = 1 << 18;
constexpr int64_t kAlignFloats = 16;
}  // namespace

float* Arena::Floats(int64_t n) {
  n = (n + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
  while (current_ < blocks_.size() && used_ + n > blocks_[current_].size) {
    ++current_;
    used_ = 0;
  }
  if (current_ == blocks_.size()) {
    const int64_t size = std::max(n, kBlockFloats);
    blocks_.push_back(
        {std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size + kAlignFloats)), size});
  }
  const auto base = reinterpret_cast<uintptr_t>(blocks_[current_].data.get());
  float* start = reinterpret_cast<float*>((base + 63) / 64 * 64) + used_;
  used_ += n;
  return start;
}

void Arena::Reset() {
  current_ = 0;
  used_ = 0;
}

std::byte* Walk::Row(int64_t p) const {
  const Tensor& tensor = *pattern.tensor;
  const int64_t bytes = DTypeBytes(pattern.dtype);
  if (!row_offsets.empty()) {
    const int64_t offset = row_offsets[static_cast<size_t>(p)];
    return offset == kSkip ? nullptr : tensor.data + offset * bytes;
  }
  if (!pattern.on_chip()) return tensor.data + (pattern.offset + p * pattern.dims[0].step) * bytes;
  return tensor.data + (pattern.start_partition + p * pattern.dims[0].step) * tensor.data_stride +
         pattern.offset * bytes;
}

bool Walk::rows_continue() const {
  if (!row_offsets.empty() || pattern.num_dims > 2) return false;
  const Dim inner = pattern.num_dims == 2 ? pattern.dims[1] : Dim{0, 1};
  const int64_t bytes = DTypeBytes(pattern.dtype);
  const int64_t next = pattern.on_chip() ? pattern.dims[0].step * pattern.tensor->data_stride
                                         : pattern.dims[0].step * bytes;
  return pattern.num_dims == 1 ? next % bytes == 0 : next == inner.step * inner.size * bytes;
}

namespace {

// Step between the elements of a walk whose rows continue.
int64_t CommonStep(const Walk& walk) {
  const AccessPattern& pattern = walk.pattern;
  if (pattern.num_dims == 2) return pattern.dims[1].step;
  return pattern.on_chip()
             ? pattern.dims[0].step * pattern.tensor->data_stride / DTypeBytes(pattern.dtype)
             : pattern.dims[0].step;
}

}  // namespace

namespace {

template <class T, class Load>
void LoadRowsOf(const Walk& walk, int64_t p, int64_t count, T* to, const Load& load) {
  const DType dtype = walk.pattern.dtype;
  if (walk.rows_continue())
    return load(dtype, walk.Row(p), CommonStep(walk), count * walk.row_elements(), to);
  for (const int64_t end = p + count; p < end; ++p) {
    std::byte* row = walk.Row(p);
    if (row == nullptr) {
      to += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      load(dtype, start, step, n, to);
      to += n;
    });
  }
}

template <class T, class Store>
void StoreRowsOf(const Walk& walk, int64_t p, int64_t count, const T* from, const Store& store) {
  const DType dtype = walk.pattern.dtype;
  if (walk.rows_continue())
    return store(dtype, walk.Row(p), CommonStep(walk), count * walk.row_elements(), from);
  for (const int64_t end = p + count; p < end; ++p) {
    std::byte* row = walk.Row(p);
    if (row == nullptr) {
      from += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      store(dtype, start, step, n, from);
      from += n;
    });
  }
}

}  // namespace

void LoadRows(const Walk& walk, int64_t p, int64_t count, float* to) {
  LoadRowsOf(walk, p, count, to, LoadFloats);
}
void StoreRows(const Walk& walk, int64_t p, int64_t count, const float* from) {
  StoreRowsOf(walk, p, count, from, StoreFloats);
}
void LoadRows(const Walk& walk, int64_t p, int64_t count, uint32_t* to) {
  LoadRowsOf(walk, p, count, to, LoadBits);
}
void StoreRows(const Walk& walk, int64_t p, int64_t count, const uint32_t* from) {
  StoreRowsOf(walk, p, count, from, StoreBits);
}

namespace {

// The tensor's memory holds rows of T as they are.
template <class T>
bool InPlaceRows(const Walk& walk) {
  const DType dtype = walk.pattern.dtype;
  const bool same = std::is_same_v<T, float> ? dtype == DType::kF32
                                             : dtype == DType::kI32 || dtype == DType::kU32;
  return same && walk.dense_rows() && walk.row_offsets.empty();
}

// Dense rows that follow one another without a gap.
bool AreRowsAdjacent(const Walk& walk) { return walk.rows_continue() && CommonStep(walk) == 1; }

int64_t BlockSize(const Walk& walk) {
  const int64_t n = walk.row_elements();
  return std::min(BlockRows(n), walk.rows()) * n;
}

}  // namespace

template <class T>
RowReader<T>::RowReader(const Walk& walk, Overlap overlap, Arena& arena) : walk_(walk) {
  if (overlap == Overlap::kOther) {
    staged_ = arena.Words<T>(walk.rows() * walk.row_elements());
    LoadRows(walk, 0, walk.rows(), staged_);
    return;
  }
  direct_ = InPlaceRows<T>(walk) && overlap != Overlap::kRow;
  adjacent_ = direct_ && AreRowsAdjacent(walk);
  if (!adjacent_) scratch_ = arena.Words<T>(BlockSize(walk));
}

template <class T>
const T* RowReader<T>::Rows(int64_t p, int64_t count) {
  if (staged_) return staged_ + p * walk_.row_elements();
  if (direct_ && (count == 1 || adjacent_)) return reinterpret_cast<const T*>(walk_.Row(p));
  LoadRows(walk_, p, count, scratch_);
  return scratch_;
}

template <class T>
RowWriter<T>::RowWriter(const Walk& walk, Arena& arena)
    : walk_(walk), direct_(InPlaceRows<T>(walk)), adjacent_(direct_ && AreRowsAdjacent(walk)) {
  if (!adjacent_) scratch_ = arena.Words<T>(BlockSize(walk));
}

template <class T>
T* RowWriter<T>::Rows(int64_t p, int64_t count) {
  return InPlace(count) ? reinterpret_cast<T*>(walk_.Row(p)) : scratch_;
}

template <class T>
void RowWriter<T>::Done(int64_t p, int64_t count) {
  if (!InPlace(count)) StoreRows(walk_, p, count, scratch_);
}

template class RowReader<float>;
template class RowReader<uint32_t>;
template class RowWriter<float>;
template class RowWriter<uint32_t>;

}  // namespace wt::chip
