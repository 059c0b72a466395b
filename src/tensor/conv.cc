// Causal depthwise convolution, row by row on row_ops.h; dw is summed per piece of rows, then over
// the pieces in order.
#include "tensor/conv.h"

#include "tensor/check.h"
#include "tensor/row_ops.h"
#include "tensor/scratch.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

void AddRowToTaps(const ConvShape& shape, ConstArray x, ConstArray dy, int64_t r, float* dw) {
  const int64_t n = shape.width, taps = std::min(shape.taps, r % shape.time + 1);
  for (int64_t k = 0; k < taps; ++k) {
    RowMulAccumulate(n, Offset(dy, r * n), Offset(x, (r - k) * n), dw + k * n);
  }
}

void AddTapGradients(const ConvShape& shape, ConstArray x, ConstArray dy, float* dw) {
  constexpr int64_t kParts = 16;
  thread_local Scratch scratch;
  const int64_t rows = shape.batch * shape.time, size = shape.taps * shape.width;
  const int64_t grain = std::max<int64_t>(1, (rows + kParts - 1) / kParts);
  float* partial = scratch.Floats(kParts * size);
  const auto sum_part = [&](int64_t begin, int64_t end) {
    float* mine = partial + begin / grain * size;
    std::fill_n(mine, size, 0.0f);
    for (int64_t r = begin; r < end; ++r) AddRowToTaps(shape, x, dy, r, mine);
  };
  ParallelRanges(rows, grain, std::cref(sum_part));
  for (int64_t p = 0; p * grain < rows; ++p) {
    RowAccumulate(size, {partial + p * size, DType::kF32}, dw);
  }
}

}  // namespace

void ConvForward(const ConvShape& shape, ConstArray x, const float* w, Array y) {
  CheckOneType({x, y});
  const int64_t n = shape.width;
  SplitRows(shape.batch * shape.time, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t taps = std::min(shape.taps, r % shape.time + 1);
      RowWeightedSum(n, taps, w, Offset(x, r * n), -n, Offset(y, r * n));
    }
  });
}

void ConvBackward(const ConvShape& shape, ConstArray x, const float* w, ConstArray dy, Array dx,
                  float* dw) {
  CheckOneType({x, dy, dx});
  const int64_t n = shape.width;
  SplitRows(shape.batch * shape.time, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t taps = std::min(shape.taps, shape.time - r % shape.time);
      RowWeightedSum(n, taps, w, Offset(dy, r * n), n, Offset(dx, r * n));
    }
  });
  AddTapGradients(shape, x, dy, dw);
}

}  // namespace wt::tensor
