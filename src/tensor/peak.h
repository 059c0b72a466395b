// How fast this machine can multiply at all, so that a rate can be given as a share of it.
#pragma once

#include "tensor/block_gemm.h"

namespace wt::tensor {

// FLOP/s of the fastest product of bf16 values that ActiveBlockGemm offers, on `threads` threads at
// once, operands in registers. Of each thread the best of many windows of its own processor time
// counts, so that other load on the machine shows little. Takes 0.1 s.
double MeasureMatrixPeak(int threads);

// The same for one instruction set.
double MeasureMatrixPeak(const BlockGemm& gemm, int threads);

}  // namespace wt::tensor
