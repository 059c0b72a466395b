// The inner matrix product on packed blocks, one implementation per instruction set, chosen at run
// time. MatMul (matmul.h) and attention (attention.h) are written once on top of it.
//
// A block product is C[m, n] (+)= A[m, k] B[k, n] with A and B packed into the order the
// instruction set wants, and C in fp32. bf16 inputs are multiplied exactly and summed in fp32, as
// on the chip; where an instruction set has no bf16 products, packing widens to fp32 (which is
// exact).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/view.h"

namespace wt::tensor {

struct BlockGemm {
  const char* name;  // "plain", "avx2", "avx512", "avx512_bf16", "amx"
  // C is produced in tiles of mr x nr; packed sizes round m up to mr, n up to nr and k up to kr
  // with zeros.
  int64_t mr, nr, kr;
  // True when products are rounded to bf16 inputs: f32 operands are rounded while packing.
  // Otherwise f32 operands stay exact.
  bool bf16_products;
  // Sizes that keep a packed panel of B in the first cache (kc deep) and a packed block of A
  // (mc x kc) in the second.
  int64_t kc, mc;

  // Bytes of a packed operand; both packed buffers must be aligned to 64 bytes.
  int64_t (*packed_a_bytes)(int64_t m, int64_t k);
  int64_t (*packed_b_bytes)(int64_t k, int64_t n);
  void (*pack_a)(const ConstMatrix& a, void* packed);  // a is [m, k]
  void (*pack_b)(const ConstMatrix& b, void* packed);  // b is [k, n]
  // C[m, n] = A B, or += when accumulate; ldc in elements. Sums over k in one fixed order.
  void (*run)(int64_t m, int64_t n, int64_t k, const void* packed_a, const void* packed_b, float* c,
              int64_t ldc, bool accumulate);
  // `rounds` of independent products in registers, as fast as this instruction set can; returns
  // the FLOPs done. For peak.h.
  double (*spin)(int64_t rounds);
};

// What this build and this processor can run, slowest first; the first is always "plain".
const std::vector<const BlockGemm*>& AvailableBlockGemms();

// The one in use: the fastest available unless `WINDTUNNEL_ISA` or SetBlockGemm names another.
// `f32_exact` asks for one that keeps f32 operands exact (for tests and fp32 recipes). A name in
// the environment that cannot be used is reported on stderr and ignored; programs call
// CheckBlockGemmEnvironment first to stop instead. WINDTUNNEL_ISA=plain also takes the vectors from
// the element-wise kernels (simd.h). The first use compares a small product of every instruction
// set with "plain"; one that differs is reported on stderr and left out.
const BlockGemm& ActiveBlockGemm(bool f32_exact = false);
// kInvalidArgument with the known names, or kUnsupported with those that this processor can run.
Status SetBlockGemm(std::string_view name);
Status CheckBlockGemmEnvironment();

// Whether `gemm` agrees with "plain" on a small product with ragged edges.
bool BlockGemmIsSound(const BlockGemm& gemm);

}  // namespace wt::tensor
