// Which instruction set the vectorised kernels of this room use: the widest of plain (one lane),
// AVX2 and AVX-512 that the processor has, chosen on first use (Highway's dynamic dispatch).
#pragma once

namespace wt::tensor {

// From now on only the baseline target (one lane at a time) is used, in every thread; what
// WINDTUNNEL_ISA=plain asks for. Call it before other threads run kernels. Results stay the same
// within rounding.
void DisableVectorTargets();
// Undoes DisableVectorTargets.
void EnableVectorTargets();

// Of the target in use: "plain", "AVX2", "AVX3".
const char* VectorTargetName();

}  // namespace wt::tensor
