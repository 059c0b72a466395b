// Element-by-element sums, casts and scalings of flat arrays. Work is fp32; bf16 results are
// rounded to nearest even. An output may be one of the inputs if the dtypes agree.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// Any of f32, bf16 on either side.
void Cast(int64_t n, ConstArray src, Array dst);
// out = a + b; the dtypes may differ.
void Add(int64_t n, ConstArray a, ConstArray b, Array out);
// out = s * x; the dtypes may differ.
void Scale(int64_t n, float s, ConstArray x, Array out);
// out = sa a + sb b; the dtypes may differ.
void LinearCombine(int64_t n, float sa, ConstArray a, float sb, ConstArray b, Array out);
// Sum of a b, in a fixed order: the same bits at any number of threads. One dtype.
double Dot(int64_t n, ConstArray a, ConstArray b);
void ZeroFill(int64_t n, Array out);

// y = r x + z x0, with r and z single floats (parameters). One dtype.
void MixForward(int64_t n, const float* r, const float* z, ConstArray x, ConstArray x0, Array y);
// dx = r dy; dx0 = dx0_addend (may be empty) + z dy; *dr += sum(dy x); *dz += sum(dy x0). One
// dtype; outputs may be inputs; dr and dz are summed in a fixed order.
void MixBackward(int64_t n, ConstArray dy, ConstArray x, ConstArray x0, const float* r,
                 const float* z, ConstArray dx0_addend, Array dx, Array dx0, float* dr, float* dz);

}  // namespace wt::tensor
