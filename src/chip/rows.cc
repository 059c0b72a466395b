#include "chip/rows.h"

#include <algorithm>

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

void LoadRows(const Walk& walk, int64_t p, int64_t count, float* to) {
  if (walk.rows_continue()) {
    LoadFloats(walk.pattern.dtype, walk.Row(p), CommonStep(walk), count * walk.row_elements(), to);
    return;
  }
  for (const int64_t end = p + count; p < end; ++p) {
    std::byte* row = walk.Row(p);
    if (row == nullptr) {
      to += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      LoadFloats(walk.pattern.dtype, start, step, n, to);
      to += n;
    });
  }
}

void StoreRows(const Walk& walk, int64_t p, int64_t count, const float* from) {
  if (walk.rows_continue()) {
    StoreFloats(walk.pattern.dtype, walk.Row(p), CommonStep(walk), count * walk.row_elements(),
                from);
    return;
  }
  for (const int64_t end = p + count; p < end; ++p) {
    std::byte* row = walk.Row(p);
    if (row == nullptr) {
      from += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      StoreFloats(walk.pattern.dtype, start, step, n, from);
      from += n;
    });
  }
}

namespace {

bool AreFloatsInPlace(const Walk& walk) {
  return walk.pattern.dtype == DType::kF32 && walk.dense_rows() && walk.row_offsets.empty();
}

// Dense rows that follow one another without a gap.
bool AreRowsAdjacent(const Walk& walk) {
  return walk.rows_continue() && (walk.pattern.num_dims == 1 ? CommonStep(walk) == 1 : true);
}

int64_t BlockSize(const Walk& walk) {
  const int64_t n = walk.row_elements();
  return std::min(BlockRows(n), walk.rows()) * n;
}

}  // namespace

FloatReader::FloatReader(const Walk& walk, Overlap overlap, Arena& arena) : walk_(walk) {
  if (overlap == Overlap::kOther) {
    staged_ = arena.Floats(walk.rows() * walk.row_elements());
    LoadRows(walk, 0, walk.rows(), staged_);
    return;
  }
  direct_ = AreFloatsInPlace(walk) && overlap != Overlap::kRow;
  adjacent_ = direct_ && AreRowsAdjacent(walk);
  if (!adjacent_) scratch_ = arena.Floats(BlockSize(walk));
}

const float* FloatReader::Rows(int64_t p, int64_t count) {
  if (staged_) return staged_ + p * walk_.row_elements();
  if (direct_ && (count == 1 || adjacent_)) return reinterpret_cast<const float*>(walk_.Row(p));
  LoadRows(walk_, p, count, scratch_);
  return scratch_;
}

FloatWriter::FloatWriter(const Walk& walk, Arena& arena)
    : walk_(walk), direct_(AreFloatsInPlace(walk)), adjacent_(direct_ && AreRowsAdjacent(walk)) {
  if (!adjacent_) scratch_ = arena.Floats(BlockSize(walk));
}

float* FloatWriter::Rows(int64_t p, int64_t count) {
  return InPlace(count) ? reinterpret_cast<float*>(walk_.Row(p)) : scratch_;
}

void FloatWriter::Done(int64_t p, int64_t count) {
  if (!InPlace(count)) StoreRows(walk_, p, count, scratch_);
}

}  // namespace wt::chip
