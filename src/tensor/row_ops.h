// Vectorised work on single rows, the pieces that embedding, smear, gate and convolution are made
// of. Each runs on the calling thread. Arrays of a call share one dtype (f32, bf16) unless said.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// The array that starts `elements` further on.
inline ConstArray Offset(ConstArray a, int64_t elements) {
  return {static_cast<const char*>(a.data) + elements * DTypeBytes(a.dtype), a.dtype};
}
inline Array Offset(Array a, int64_t elements) {
  return {static_cast<char*>(a.data) + elements * DTypeBytes(a.dtype), a.dtype};
}

float LoadElement(ConstArray a, int64_t i);
void StoreElement(Array a, int64_t i, float value);
float SigmoidScalar(float x);

// out = src, converted when the dtypes differ.
void RowCopy(int64_t n, ConstArray src, Array out);
// out = a + s b.
void RowAddScaled(int64_t n, ConstArray a, float s, ConstArray b, Array out);
// out = s a.
void RowScale(int64_t n, float s, ConstArray a, Array out);
// acc += a, in fp32.
void RowAccumulate(int64_t n, ConstArray a, float* acc);
// acc += a b, in fp32.
void RowMulAccumulate(int64_t n, ConstArray a, ConstArray b, float* acc);
float RowDot(int64_t n, ConstArray a, ConstArray b);
// out[d] = sum over k < taps of w[k n + d] * x[d + k step]; w is f32 [taps, n].
void RowWeightedSum(int64_t n, int64_t taps, const float* w, ConstArray x, int64_t step, Array out);

}  // namespace wt::tensor
