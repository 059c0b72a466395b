#include "tensor/block_gemm_isa.h"

namespace wt::tensor {
const BlockGemm* AmxBlockGemm() { return nullptr; }
}  // namespace wt::tensor
