// The product that the Tensor engine makes in one pass, on the host: small enough for one packing
// of each operand and one thread, built on tensor's block products.
#pragma once

#include "tensor/view.h"

namespace wt::chip {

// c[m, n] = a[m, k] b[k, n], or c += a b. a and b are f32 or bf16, c is f32. Products are fp32,
// sums fp32 in a fixed order. `narrow`: all values of a and b are bf16's, whose products are exact.
// Requires m, n, k >= 1.
void ArrayProduct(const tensor::ConstMatrix& a, const tensor::ConstMatrix& b,
                  const tensor::Matrix& c, bool narrow, bool accumulate);

}  // namespace wt::chip
