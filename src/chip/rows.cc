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

void LoadRow(const Walk& walk, int64_t p, float* to) {
  std::byte* row = walk.Row(p);
  if (row == nullptr) return;
  ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
    LoadFloats(walk.pattern.dtype, start, step, n, to);
    to += n;
  });
}

void StoreRow(const Walk& walk, int64_t p, const float* from) {
  std::byte* row = walk.Row(p);
  if (row == nullptr) return;
  ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
    StoreFloats(walk.pattern.dtype, start, step, n, from);
    from += n;
  });
}

namespace {

bool AreFloatsInPlace(const Walk& walk) {
  return walk.pattern.dtype == DType::kF32 && walk.dense_rows() && walk.row_offsets.empty();
}

}  // namespace

FloatReader::FloatReader(const Walk& walk, Overlap overlap, Arena& arena) : walk_(walk) {
  const int64_t n = walk.row_elements();
  if (overlap == Overlap::kOther) {
    staged_ = arena.Floats(walk.rows() * n);
    for (int64_t p = 0; p < walk.rows(); ++p) LoadRow(walk, p, staged_ + p * n);
  } else if (AreFloatsInPlace(walk) && overlap != Overlap::kRow) {
    direct_ = true;
  } else {
    scratch_ = arena.Floats(n);
  }
}

const float* FloatReader::Row(int64_t p) {
  if (direct_) return reinterpret_cast<const float*>(walk_.Row(p));
  if (staged_) return staged_ + p * walk_.row_elements();
  LoadRow(walk_, p, scratch_);
  return scratch_;
}

FloatWriter::FloatWriter(const Walk& walk, Arena& arena)
    : walk_(walk), direct_(AreFloatsInPlace(walk)) {
  if (!direct_) scratch_ = arena.Floats(walk.row_elements());
}

float* FloatWriter::Row(int64_t p) {
  return direct_ ? reinterpret_cast<float*>(walk_.Row(p)) : scratch_;
}

void FloatWriter::Done(int64_t p) {
  if (!direct_) StoreRow(walk_, p, scratch_);
}

}  // namespace wt::chip
