// What block_gemm.cc chooses from. Each is null when this build has no code for that instruction
// set; whether this processor can run it is block_gemm.cc's question.
#pragma once

#include "tensor/block_gemm.h"

namespace wt::tensor {

const BlockGemm* PlainBlockGemm();
const BlockGemm* Avx2BlockGemm();
const BlockGemm* Avx512BlockGemm();
const BlockGemm* Avx512BF16BlockGemm();
const BlockGemm* AmxBlockGemm();

// Makes any table the active one; tests run whole operations on emulated instruction sets with it.
void UseBlockGemm(const BlockGemm& gemm);

}  // namespace wt::tensor
