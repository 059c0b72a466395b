// Smear, row by row on row_ops.h; the gradient of lambda is summed in a fixed order.
#include "tensor/smear.h"

#include "tensor/check.h"
#include "tensor/row_ops.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

// lambda * sigmoid(g) of row r, the share of the row before it; none at the start of a sequence.
float Share(const SmearShape& shape, ConstArray g, float lambda, int64_t r) {
  return r % shape.time == 0 ? 0.0f : lambda * SigmoidScalar(LoadElement(g, r));
}

// dg of row r is stored; gives the row's part of dlambda.
float GateRow(const SmearShape& shape, ConstArray x, ConstArray g, float lambda, ConstArray dy,
              int64_t r, Array dg) {
  if (r % shape.time == 0) {
    StoreElement(dg, r, 0.0f);
    return 0.0f;
  }
  const int64_t n = shape.width;
  const float dot = RowDot(n, Offset(dy, r * n), Offset(x, (r - 1) * n));
  const float s = SigmoidScalar(LoadElement(g, r));
  StoreElement(dg, r, lambda * s * (1 - s) * dot);
  return s * dot;
}

}  // namespace

void SmearForward(const SmearShape& shape, ConstArray x, ConstArray g, const float* lambda,
                  Array y) {
  CheckOneType({x, y});
  CheckFloat({g});
  const int64_t n = shape.width;
  SplitRows(shape.batch * shape.time, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const ConstArray before = Offset(x, r == 0 ? 0 : (r - 1) * n);
      RowAddScaled(n, Offset(x, r * n), Share(shape, g, *lambda, r), before, Offset(y, r * n));
    }
  });
}

void SmearBackward(const SmearShape& shape, ConstArray x, ConstArray g, const float* lambda,
                   ConstArray dy, Array dx, Array dg, float* dlambda) {
  CheckOneType({x, dy, dx});
  CheckFloat({g, dg});
  const int64_t n = shape.width, rows = shape.batch * shape.time;
  SplitRows(rows, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t after = r + 1 < rows ? r + 1 : r;
      const float share = after == r ? 0.0f : Share(shape, g, *lambda, after);
      RowAddScaled(n, Offset(dy, r * n), share, Offset(dy, after * n), Offset(dx, r * n));
    }
  });
  const double sum = OrderedSum(rows, 64, [&](int64_t begin, int64_t end) {
    double part = 0;
    for (int64_t r = begin; r < end; ++r) part += GateRow(shape, x, g, *lambda, dy, r, dg);
    return part;
  });
  *dlambda += static_cast<float>(sum);
}

}  // namespace wt::tensor
