// Operands row by row: where a partition's elements lie, and readers and writers that hand out rows
// of fp32 or of bits, straight from the tensor where that is possible.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "chip/access_pattern.h"
#include "chip/shadow.h"

namespace wt::chip {

// Memory that lasts one instruction.
class Arena {
 public:
  float* Floats(int64_t n);  // 64-byte aligned
  template <class T>
  T* Words(int64_t n) {  // of 4 bytes
    static_assert(sizeof(T) == sizeof(float));
    return reinterpret_cast<T*>(Floats(n));
  }
  void Reset();

 private:
  struct Block {
    std::unique_ptr<float[]> data;
    int64_t size = 0;
  };
  std::vector<Block> blocks_;
  size_t current_ = 0;
  int64_t used_ = 0;
};

// An operand as it is walked: a pattern with neighbouring dimensions merged, or for gather and
// scatter one offset a row.
struct Walk {
  AccessPattern pattern;
  std::vector<int64_t> row_offsets;  // elements; replaces offset + p * dims[0].step when not empty
  bool skipped = false;              // out of bounds with oob_mode.skip: touches nothing
  static constexpr int64_t kSkip = -1;  // such a row, in row_offsets

  int64_t rows() const { return pattern.dims[0].size; }
  int64_t row_elements() const { return pattern.free_elements(); }
  // First element of row p; null for a row that is skipped.
  std::byte* Row(int64_t p) const;
  // From one row to the next the walk goes on as along its innermost dimension, if it has at most
  // one: rows can be taken together.
  bool rows_continue() const;
  // Elements of a row follow one another.
  bool dense_rows() const {
    return pattern.num_dims == 1 || (pattern.num_dims == 2 && pattern.dims[1].step == 1);
  }
};

// Calls fn(start, step, n) for the runs along the innermost dimension of one row that begins at
// `row`, in order; `step` in elements.
template <class Fn>
void ForRuns(const AccessPattern& pattern, std::byte* row, const Fn& fn, int dim = 1) {
  const Dim& d = pattern.dims[static_cast<size_t>(dim)];
  if (dim >= pattern.num_dims) return fn(row, int64_t{1}, int64_t{1});
  if (dim == pattern.num_dims - 1) return fn(row, d.step, d.size);
  const int64_t stride = d.step * DTypeBytes(pattern.dtype);
  for (int64_t i = 0; i < d.size; ++i) ForRuns(pattern, row + i * stride, fn, dim + 1);
}

// Rows [p, p + count) gathered from, or scattered to, a walk; dense, [count, row_elements]. Rows
// that the walk skips leave their place in `to` alone.
void LoadRows(const Walk& walk, int64_t p, int64_t count, float* to);
void StoreRows(const Walk& walk, int64_t p, int64_t count, const float* from);
void LoadRows(const Walk& walk, int64_t p, int64_t count, uint32_t* to);  // bits, zero-extended
void StoreRows(const Walk& walk, int64_t p, int64_t count, const uint32_t* from);
inline void LoadRow(const Walk& walk, int64_t p, float* to) { LoadRows(walk, p, 1, to); }
inline void StoreRow(const Walk& walk, int64_t p, const float* from) {
  StoreRows(walk, p, 1, from);
}

// How an operand that is read meets what the instruction writes.
enum class Overlap : uint8_t {
  kNone,
  kSame,   // the very same walk: element i is read before it is written
  kRow,    // other elements of the same row
  kOther,  // elements of other rows
};

// Rows are handed out in blocks, dense [count, row_elements], so that what a call costs is spread
// over many short rows. Requires count <= BlockRows(row_elements).
inline int64_t BlockRows(int64_t row_elements) {
  constexpr int64_t kBlockElements = 1024;  // three operands of 4 KiB stay in the first cache
  return row_elements <= 0 ? 1 : std::max<int64_t>(1, kBlockElements / row_elements);
}

// T: float (values, converted) or uint32_t (bits, zero-extended).
template <class T>
class RowReader {
 public:
  RowReader(const Walk& walk, Overlap overlap, Arena& arena);
  // Valid until the next call.
  const T* Rows(int64_t p, int64_t count);
  const T* Row(int64_t p) { return Rows(p, 1); }

 private:
  const Walk& walk_;
  bool direct_ = false;    // the tensor's own memory holds rows of T
  bool adjacent_ = false;  // … without a gap from one row to the next
  T* staged_ = nullptr;    // all rows, read beforehand
  T* scratch_ = nullptr;
};

template <class T>
class RowWriter {
 public:
  RowWriter(const Walk& walk, Arena& arena);
  // Where to put rows [p, p + count); Done with the same numbers must follow.
  T* Rows(int64_t p, int64_t count);
  T* Row(int64_t p) { return Rows(p, 1); }
  void Done(int64_t p, int64_t count = 1);

 private:
  bool InPlace(int64_t count) const { return direct_ && (count == 1 || adjacent_); }

  const Walk& walk_;
  bool direct_ = false, adjacent_ = false;
  T* scratch_ = nullptr;
};

using FloatReader = RowReader<float>;
using FloatWriter = RowWriter<float>;
using WordReader = RowReader<uint32_t>;
using WordWriter = RowWriter<uint32_t>;

// Calls fn(p, count) for consecutive blocks of rows.
template <class Fn>
void ForBlocks(const Walk& walk, const Fn& fn) {
  const int64_t most = BlockRows(walk.row_elements());
  for (int64_t p = 0; p < walk.rows(); p += most) fn(p, std::min(most, walk.rows() - p));
}

}  // namespace wt::chip
