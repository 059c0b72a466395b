// Rotary positions followed by QK norm, as one pass over the queries or keys. Pairs are (i, i +
// hd/2) and turn by minus the angle: with c, s = cos, sin(position * base^(-2i/hd)),
//   y1 = x1 c + x2 s,   y2 = -x1 s + x2 c.
// Then, if `norm`, RMSNorm over head_dim; then times `gain`.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct RopeShape {
  int64_t batch = 1, time = 1, heads = 1, head_dim = 0;  // head_dim is even
  double base = 10000.0;
  int64_t first_position = 0;  // of the first row of `time`; > 0 when decoding with a cache
  bool norm = true;
  float eps = 1.1920929e-7f;
  float gain = 1.0f;
  // Of each row of [batch, time], where they do not follow each other; instead of first_position.
  const int32_t* positions = nullptr;
};

// x, y: [batch, time, heads, head_dim] of one dtype (f32, bf16). y may be x.
void RopeNormForward(const RopeShape& shape, ConstArray x, Array y);

// dx from dy, with x the input of the forward call. One dtype; dx may be dy.
void RopeNormBackward(const RopeShape& shape, ConstArray x, ConstArray dy, Array dx);

}  // namespace wt::tensor
