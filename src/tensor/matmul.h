// Matrix product of whole tensors: blocking, packing and threads around block_gemm.h.
#pragma once

#include "tensor/view.h"

namespace wt::tensor {

// C[m, n] = A[m, k] B[k, n], or C += A B when accumulate (added in fp32 and rounded once to C's
// dtype). A and B are f32 or bf16, in either orientation; C is f32 or bf16. bf16 operands are
// multiplied exactly and summed in fp32. If both A and B are f32, products are fp32, never rounded
// to bf16. Bits do not depend on the number of threads.
void MatMul(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, bool accumulate = false);

// The same sums, in double, in the plainest way; the twin that tests compare with.
void MatMulReference(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c,
                     bool accumulate = false);

}  // namespace wt::tensor
