// The f32 block product for AVX2 and FMA: 6 x 16 micro-tile, 12 accumulators of the 16 registers.
// Compiled with -mavx2 -mfma where the build is for x86-64.
#include "tensor/block_gemm_isa.h"

#if defined(__AVX2__) && defined(__FMA__)
#define WT_LANES 8
#include "tensor/block_gemm_f32.h"

namespace wt::tensor {
namespace {
constexpr BlockGemm kAvx2 = F32Kernel<6>::Table("avx2", 320, 192);
}
const BlockGemm* Avx2BlockGemm() { return &kAvx2; }
}  // namespace wt::tensor
#else
namespace wt::tensor {
const BlockGemm* Avx2BlockGemm() { return nullptr; }
}  // namespace wt::tensor
#endif
