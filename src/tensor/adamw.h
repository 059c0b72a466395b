// AdamW (Loshchilov and Hutter, 2019) on one flat fp32 parameter, and the sums and averages that
// optimisers share.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct AdamWOptions {
  float lr = 0, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
  float weight_decay = 0;
  float grad_scale = 1;  // multiplies the gradient as it is read
  int64_t step = 1;      // of this update, from 1; for the bias correction
};

// All arrays f32 [n]. p *= 1 - lr * weight_decay; the moments m and v take in grad; then
// p -= lr * m_hat / (sqrt(v_hat) + eps), with hats bias-corrected.
void AdamWStep(int64_t n, const AdamWOptions& options, const float* grad, float* p, float* m,
               float* v);

// ema = decay * ema + (1 - decay) * p. f32 [n].
void EmaUpdate(int64_t n, float decay, const float* p, float* ema);
// out = (1 - alpha) * a + alpha * b. f32 [n]; out may be a or b.
void Blend(int64_t n, float alpha, const float* a, const float* b, float* out);

// Sum of x^2 over n elements; the same bits at any number of threads.
double SumOfSquares(int64_t n, ConstArray x);

}  // namespace wt::tensor
