// Value-embedding gate: attention values take in a gated share of a token's value embedding.
//   y[n, h, :] = v[n, h, :] + scale * sigmoid(g[n, h]) * e[n, h, :]
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct GateShape {
  int64_t tokens = 0, heads = 1, head_dim = 0;
  float scale = 1;
};

// v, e, y: [tokens, heads, head_dim] of one dtype, y may be v; g: [tokens, heads], f32 or bf16.
void GateForward(const GateShape& shape, ConstArray v, ConstArray g, ConstArray e, Array y);

// de: like e; dg: like g. The gradient of v is dy itself.
void GateBackward(const GateShape& shape, ConstArray g, ConstArray e, ConstArray dy, Array dg,
                  Array de);

}  // namespace wt::tensor
