#include "tensor/block_gemm_isa.h"

namespace wt::tensor {
const BlockGemm* Avx512BF16BlockGemm() { return nullptr; }
}  // namespace wt::tensor
