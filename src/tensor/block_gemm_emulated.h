// For tests: the block products of instruction sets that this processor may lack, with plain C++ in
// place of their instructions. Defined in block_gemm_emulated_test.cc.
#pragma once

#include <vector>

#include "tensor/block_gemm.h"

namespace wt::tensor {

// What this processor runs and the emulated ones.
std::vector<const BlockGemm*> AllBlockGemmsForTest();

}  // namespace wt::tensor
