// Smear: each position takes in a gated share of the one before it.
//   y[b, t] = x[b, t] + lambda * sigmoid(g[b, t]) * x[b, t - 1] for t >= 1;  y[b, 0] = x[b, 0].
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct SmearShape {
  int64_t batch = 1, time = 1, width = 0;
};

// x, y: [batch, time, width] of one dtype, y not x; g: [batch, time], f32 or bf16; lambda: one
// float.
void SmearForward(const SmearShape& shape, ConstArray x, ConstArray g, const float* lambda,
                  Array y);

// dx: like x, not dy; dg: [batch, time] (zero at t = 0); *dlambda += its gradient, in a fixed
// order.
void SmearBackward(const SmearShape& shape, ConstArray x, ConstArray g, const float* lambda,
                   ConstArray dy, Array dx, Array dg, float* dlambda);

}  // namespace wt::tensor
