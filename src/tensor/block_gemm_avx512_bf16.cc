// The block product for AVX-512 BF16: 32 products of bf16 values an instruction. Compiled with
// -mavx512bf16 and friends where the build is for x86-64.
#include "tensor/block_gemm_isa.h"

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
#include <immintrin.h>

#define WT_LANES 16
#include "tensor/block_gemm_bf16.h"

namespace wt::tensor {
namespace {

struct VectorDot {
  WT_INLINE static F32 Add(F32 acc, U32 a, U32 b) {
    return (F32)_mm512_dpbf16_ps((__m512)acc, (__m512bh)a, (__m512bh)b);
  }
};
constexpr BlockGemm kAvx512BF16 = BF16DotKernel<VectorDot>::Table("avx512_bf16");

}  // namespace
const BlockGemm* Avx512BF16BlockGemm() { return &kAvx512BF16; }
}  // namespace wt::tensor
#else
namespace wt::tensor {
const BlockGemm* Avx512BF16BlockGemm() { return nullptr; }
}  // namespace wt::tensor
#endif
