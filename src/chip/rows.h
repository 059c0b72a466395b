// Operands row by row: where a partition's elements lie, and readers and writers that hand out rows
// of fp32, straight from the tensor where that is possible.
#pragma once

#include <memory>
#include <vector>

#include "chip/access_pattern.h"
#include "chip/shadow.h"

namespace wt::chip {

// Memory that lasts one instruction.
class Arena {
 public:
  float* Floats(int64_t n);  // 64-byte aligned
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

// A row gathered from, or scattered to, a walk.
void LoadRow(const Walk& walk, int64_t p, float* to);
void StoreRow(const Walk& walk, int64_t p, const float* from);

// How an operand that is read meets what the instruction writes.
enum class Overlap : uint8_t {
  kNone,
  kSame,   // the very same walk: element i is read before it is written
  kRow,    // other elements of the same row
  kOther,  // elements of other rows
};

class FloatReader {
 public:
  FloatReader(const Walk& walk, Overlap overlap, Arena& arena);
  // [row_elements], valid until the next call.
  const float* Row(int64_t p);

 private:
  const Walk& walk_;
  bool direct_ = false;
  float* staged_ = nullptr;  // all rows, read beforehand
  float* scratch_ = nullptr;
};

class FloatWriter {
 public:
  FloatWriter(const Walk& walk, Arena& arena);
  // Where to put row p; Done(p) must follow.
  float* Row(int64_t p);
  void Done(int64_t p);

 private:
  const Walk& walk_;
  bool direct_ = false;
  float* scratch_ = nullptr;
};

}  // namespace wt::chip
