// One row of logits at a time: soft cap, log-sum-exp and the gradient of the cross entropy. The hot
// inner part of cross_entropy.h; on the calling thread.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// z = cap * tanh(z / cap), in place. Requires cap > 0.
void SoftcapRow(int64_t n, float cap, float* z);

// Caps z in place (cap 0: leaves it) and gives log(sum(exp(z))).
float SoftcapLogSumExp(int64_t n, float cap, float* z);

// out = coef * softmax(logits) * d(logits)/dz, where log_sum_exp belongs to the capped logits and
// the last factor is 1 - (logits / cap)^2, or 1 when cap is 0. out may start where logits does, in
// f32 or bf16.
void SoftmaxGradient(int64_t n, float cap, float log_sum_exp, float coef, const float* logits,
                     Array out);

}  // namespace wt::tensor
