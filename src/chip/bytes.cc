#include "chip/bytes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "chip/codec.h"

namespace wt::chip {
namespace {

// Calls fn with an integer of `bytes` bytes.
template <class Fn>
WT_INLINE void WithWidth(int64_t bytes, const Fn& fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t());
    case 2:
      return fn(uint16_t());
    case 4:
      return fn(uint32_t());
    default:
      return fn(uint64_t());
  }
}

// to[i * to_step] = from[i * from_step], in elements of `bytes`; one of the steps is 1.
WT_CLONES void MoveRun(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                       int64_t n, int64_t bytes) {
  WithWidth(
      bytes, [=](auto width) __attribute__((always_inline)) {
        using T __attribute__((may_alias)) = decltype(width);
        const auto* source = reinterpret_cast<const T*>(from);
        auto* target = reinterpret_cast<T*>(to);
        if (to_step == 1) {
          WithStep(
              from_step, [=](auto step) __attribute__((always_inline)) {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) target[i] = source[i * step];
              });
        } else {
          for (int64_t i = 0; i < n; ++i) target[i * to_step] = source[i];
        }
      });
}

void GatherRow(const Walk& walk, std::byte* row, std::byte* to) {
  const int64_t bytes = DTypeBytes(walk.pattern.dtype);
  ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
    if (step == 1) {
      std::memcpy(to, start, static_cast<size_t>(n * bytes));
    } else {
      MoveRun(start, step, to, 1, n, bytes);
    }
    to += n * bytes;
  });
}

void ScatterRow(const Walk& walk, std::byte* row, const std::byte* from) {
  const int64_t bytes = DTypeBytes(walk.pattern.dtype);
  ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
    if (step == 1) {
      std::memcpy(start, from, static_cast<size_t>(n * bytes));
    } else {
      MoveRun(from, 1, start, step, n, bytes);
    }
    from += n * bytes;
  });
}

void CopyRow(const Walk& to, std::byte* to_row, const Walk& from, std::byte* from_row, bool apart,
             std::vector<std::byte>& scratch) {
  const int64_t bytes = from.row_elements() * DTypeBytes(from.pattern.dtype);
  if (from.dense_rows() && to.dense_rows()) {
    std::memmove(to_row, from_row, static_cast<size_t>(bytes));
  } else if (apart && from.dense_rows()) {
    ScatterRow(to, to_row, from_row);
  } else if (apart && to.dense_rows()) {
    GatherRow(from, from_row, to_row);
  } else {
    scratch.resize(static_cast<size_t>(bytes));
    GatherRow(from, from_row, scratch.data());
    ScatterRow(to, to_row, scratch.data());
  }
}

}  // namespace

void GatherBytes(const Walk& walk, std::byte* bytes) {
  const int64_t row_bytes = walk.row_elements() * DTypeBytes(walk.pattern.dtype);
  for (int64_t p = 0; p < walk.rows(); ++p) {
    if (std::byte* row = walk.Row(p)) GatherRow(walk, row, bytes + p * row_bytes);
  }
}

void ScatterBytes(const Walk& walk, const std::byte* bytes) {
  const int64_t row_bytes = walk.row_elements() * DTypeBytes(walk.pattern.dtype);
  for (int64_t p = 0; p < walk.rows(); ++p) {
    if (std::byte* row = walk.Row(p)) ScatterRow(walk, row, bytes + p * row_bytes);
  }
}

void FillRows(const Walk& walk, const std::byte* row) {
  for (int64_t p = 0; p < walk.rows(); ++p) {
    if (std::byte* to = walk.Row(p)) ScatterRow(walk, to, row);
  }
}

void CopyRows(const Walk& to, const Walk& from, Overlap overlap) {
  if (to.row_elements() == 0) return;
  std::vector<std::byte> scratch;
  if (overlap == Overlap::kOther) {  // all must be read first
    const int64_t row_bytes = from.row_elements() * DTypeBytes(from.pattern.dtype);
    scratch.resize(static_cast<size_t>(from.rows() * row_bytes));
    GatherBytes(from, scratch.data());
    for (int64_t p = 0; p < to.rows(); ++p) {
      std::byte* row = to.Row(p);
      if (row && from.Row(p)) ScatterRow(to, row, scratch.data() + p * row_bytes);
    }
    return;
  }
  for (int64_t p = 0; p < to.rows(); ++p) {
    std::byte* to_row = to.Row(p);
    std::byte* from_row = from.Row(p);
    if (to_row && from_row) CopyRow(to, to_row, from, from_row, overlap == Overlap::kNone, scratch);
  }
}

namespace {

constexpr int64_t kBlock = 16;  // elements: a block's rows and columns each lie in few cache lines

template <class T>
void TransposeTyped(const T* from, int64_t rows, int64_t columns, T* to) {
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock) {
    const int64_t i1 = std::min(i0 + kBlock, rows);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = i0; i < i1; ++i) to[j * rows + i] = from[i * columns + j];
    }
  }
}

}  // namespace

void TransposeElements(const std::byte* from, int64_t rows, int64_t columns, int64_t bytes,
                       std::byte* to) {
  WithWidth(bytes, [=](auto width) {
    using T __attribute__((may_alias)) = decltype(width);
    TransposeTyped(reinterpret_cast<const T*>(from), rows, columns, reinterpret_cast<T*>(to));
  });
}

}  // namespace wt::chip
