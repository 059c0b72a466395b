#include "chip/bytes.h"

#include <cstring>
#include <vector>

namespace wt::chip {
namespace {

template <class T>
void GatherRun(const std::byte* from, int64_t step, int64_t n, std::byte* to) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * int64_t(sizeof(T)), from + i * step * int64_t(sizeof(T)), sizeof(T));
}

template <class T>
void ScatterRun(std::byte* to, int64_t step, int64_t n, const std::byte* from) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * step * int64_t(sizeof(T)), from + i * int64_t(sizeof(T)), sizeof(T));
}

template <class Fn>
void WithWidth(int64_t bytes, const Fn& fn) {
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

void GatherRow(const Walk& walk, std::byte* row, std::byte* to) {
  const int64_t bytes = DTypeBytes(walk.pattern.dtype);
  WithWidth(bytes, [&](auto width) {
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      if (step == 1) {
        std::memcpy(to, start, static_cast<size_t>(n * bytes));
      } else {
        GatherRun<decltype(width)>(start, step, n, to);
      }
      to += n * bytes;
    });
  });
}

void ScatterRow(const Walk& walk, std::byte* row, const std::byte* from) {
  const int64_t bytes = DTypeBytes(walk.pattern.dtype);
  WithWidth(bytes, [&](auto width) {
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      if (step == 1) {
        std::memcpy(start, from, static_cast<size_t>(n * bytes));
      } else {
        ScatterRun<decltype(width)>(start, step, n, from);
      }
      from += n * bytes;
    });
  });
}

void CopyRow(const Walk& to, std::byte* to_row, const Walk& from, std::byte* from_row,
             std::vector<std::byte>& scratch) {
  const int64_t bytes = from.row_elements() * DTypeBytes(from.pattern.dtype);
  if (from.dense_rows() && to.dense_rows()) {
    std::memmove(to_row, from_row, static_cast<size_t>(bytes));
  } else if (from.dense_rows() && from.pattern.tensor->data != to.pattern.tensor->data) {
    ScatterRow(to, to_row, from_row);
  } else if (to.dense_rows() && from.pattern.tensor->data != to.pattern.tensor->data) {
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
    if (to_row && from_row) CopyRow(to, to_row, from, from_row, scratch);
  }
}

}  // namespace wt::chip
