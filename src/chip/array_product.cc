#include "chip/array_product.h"

#include <algorithm>
#include <string_view>

#include "tensor/block_gemm.h"
#include "tensor/scratch.h"

namespace wt::chip {
namespace {

constexpr int64_t kColumns = 256;  // of b packed at a time: half the second cache with k = 128

// AMX multiplies bf16 itself, many times faster. Without it bf16 widened to fp32 wins: AVX-512-BF16
// reached 85 GFLOP/s where fp32 reached 169 (Xeon with AVX-512-BF16 and no AMX), and it takes
// subnormals for zero besides.
const tensor::BlockGemm& KernelFor(bool narrow) {
  if (narrow) {
    const tensor::BlockGemm& fastest = tensor::ActiveBlockGemm();
    if (std::string_view(fastest.name) == "amx") return fastest;
  }
  return tensor::ActiveBlockGemm(/*f32_exact=*/true);
}

struct Packed {
  tensor::Scratch a, b;
};
Packed& ThreadPacked() {
  thread_local Packed packed;
  return packed;
}

}  // namespace

void ArrayProduct(const tensor::ConstMatrix& a, const tensor::ConstMatrix& b,
                  const tensor::Matrix& c, bool narrow, bool accumulate) {
  const tensor::BlockGemm& kernel = KernelFor(narrow);
  const int64_t m = a.rows, k = a.cols, n = b.cols;
  Packed& packed = ThreadPacked();
  void* left = packed.a.Reserve(kernel.packed_a_bytes(m, k));
  void* right = packed.b.Reserve(kernel.packed_b_bytes(k, std::min(n, kColumns)));
  kernel.pack_a(a, left);
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t width = std::min(kColumns, n - j);
    kernel.pack_b(b.Block(0, k, j, width), right);
    kernel.run(m, width, k, left, right, static_cast<float*>(c.data) + j, c.row_stride, accumulate);
  }
}

}  // namespace wt::chip
