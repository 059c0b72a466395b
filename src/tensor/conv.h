// Causal depthwise convolution over time with a few taps:
//   y[b, t, d] = sum over k < taps of w[k, d] * x[b, t - k, d], with x zero before the row's start.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct ConvShape {
  int64_t batch = 1, time = 1, width = 0, taps = 1;
};

// x, y: [batch, time, width] of one dtype (f32, bf16), y not x; w: f32 [taps, width].
void ConvForward(const ConvShape& shape, ConstArray x, const float* w, Array y);

// dx: [batch, time, width], overwritten, not dy; dw: f32 [taps, width], accumulated (+=).
void ConvBackward(const ConvShape& shape, ConstArray x, const float* w, ConstArray dy, Array dx,
                  float* dw);

}  // namespace wt::tensor
