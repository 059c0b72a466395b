// Value-embedding gate, head by head on row_ops.h.
#include "tensor/gate.h"

#include "tensor/check.h"
#include "tensor/row_ops.h"
#include "tensor/split.h"

namespace wt::tensor {

void GateForward(const GateShape& shape, ConstArray v, ConstArray g, ConstArray e, Array y) {
  CheckOneType({v, e, y});
  CheckFloat({g});
  const int64_t n = shape.head_dim;
  SplitRows(shape.tokens * shape.heads, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float share = shape.scale * SigmoidScalar(LoadElement(g, r));
      RowAddScaled(n, Offset(v, r * n), share, Offset(e, r * n), Offset(y, r * n));
    }
  });
}

void GateBackward(const GateShape& shape, ConstArray g, ConstArray e, ConstArray dy, Array dg,
                  Array de) {
  CheckOneType({e, dy, de});
  CheckFloat({g, dg});
  const int64_t n = shape.head_dim;
  SplitRows(shape.tokens * shape.heads, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float s = SigmoidScalar(LoadElement(g, r));
      const float dot = RowDot(n, Offset(dy, r * n), Offset(e, r * n));
      StoreElement(dg, r, shape.scale * s * (1 - s) * dot);
      RowScale(n, shape.scale * s, Offset(dy, r * n), Offset(de, r * n));
    }
  });
}

}  // namespace wt::tensor
