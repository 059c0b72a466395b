// RMSNorm without learned weights, over the last dimension. Of each row,
//   y = x * rstd,  rstd = 1 / sqrt(mean(x^2) + eps).
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// x, y: [rows, cols] of one dtype (f32, bf16). y may be x.
void RmsNormForward(int64_t rows, int64_t cols, float eps, ConstArray x, Array y);

// dx = addend + rstd * (dy - y * mean(dy * y)), with rstd and y computed again from x. All arrays
// [rows, cols] of one dtype; addend may be empty (zero), and dx may be dy or addend.
void RmsNormBackward(int64_t rows, int64_t cols, float eps, ConstArray x, ConstArray dy,
                     ConstArray addend, Array dx);

}  // namespace wt::tensor
