// The f32 block product for AVX-512: 12 x 32 micro-tile, 24 accumulators of the 32 registers.
// Compiled with -mavx512f and friends where the build is for x86-64.
#include "tensor/block_gemm_isa.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define WT_LANES 16
#include "tensor/block_gemm_f32.h"

namespace wt::tensor {
namespace {
constexpr BlockGemm kAvx512 = F32Kernel<12>::Table("avx512", 256, 192);
}
const BlockGemm* Avx512BlockGemm() { return &kAvx512; }
}  // namespace wt::tensor
#else
namespace wt::tensor {
const BlockGemm* Avx512BlockGemm() { return nullptr; }
}  // namespace wt::tensor
#endif
