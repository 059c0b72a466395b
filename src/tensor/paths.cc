// Slots, convolution and smear over paths; attention is in path_attention.cc.
#include "tensor/paths.h"

#include <cstring>

#include "tensor/check.h"
#include "tensor/row_ops.h"
#include "tensor/scratch.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

// body(row, position, path) for each row of the segments.
template <class Body>
void ForEachRow(const Paths& paths, const Body& body) {
  for (const PathSegment& s : paths.segments) {
    for (int32_t i = 0; i < s.rows; ++i) {
      body(s.first_row + i, s.first_position + i, paths.PathOf(s));
    }
  }
}

// One row of the convolution: the taps' rows are gathered, the newest last.
void ConvRow(const ConvShape& shape, ConstArray pool, const float* w, int64_t position,
             const int32_t* path, Array y) {
  thread_local Scratch scratch;
  const int64_t n = shape.width, taps = std::min(shape.taps, position + 1);
  const Array rows{scratch.Reserve(shape.taps * n * DTypeBytes(pool.dtype)), pool.dtype};
  for (int64_t k = 0; k < taps; ++k) {
    RowCopy(n, Offset(pool, path[position - k] * n), Offset(rows, (taps - 1 - k) * n));
  }
  RowWeightedSum(n, taps, w, Offset(rows, (taps - 1) * n), -n, y);
}

}  // namespace

void StoreInSlots(const Paths& paths, int64_t bytes, const void* rows, void* pool) {
  ForEachRow(paths, [&](int64_t row, int64_t position, const int32_t* path) {
    std::memcpy(static_cast<char*>(pool) + path[position] * bytes,
                static_cast<const char*>(rows) + row * bytes, static_cast<size_t>(bytes));
  });
}

void PathConv(const ConvShape& shape, const Paths& paths, ConstArray pool, const float* w,
              Array y) {
  CheckOneType({pool, y});
  ForEachRow(paths, [&](int64_t row, int64_t position, const int32_t* path) {
    ConvRow(shape, pool, w, position, path, Offset(y, row * shape.width));
  });
}

void PathSmear(const SmearShape& shape, const Paths& paths, ConstArray pool, ConstArray g,
               const float* lambda, Array y) {
  CheckOneType({pool, y});
  CheckFloat({g});
  const int64_t n = shape.width;
  ForEachRow(paths, [&](int64_t row, int64_t position, const int32_t* path) {
    const float share = position == 0 ? 0.0f : *lambda * SigmoidScalar(LoadElement(g, row));
    const ConstArray now = Offset(pool, path[position] * n);
    const ConstArray before = position == 0 ? now : Offset(pool, path[position - 1] * n);
    RowAddScaled(n, now, share, before, Offset(y, row * n));
  });
}

}  // namespace wt::tensor
