// The block product in plain C++, for any processor: the twin that the others are tested against.
#include <algorithm>

#include "tensor/block_gemm_isa.h"

namespace wt::tensor {
namespace {

float Element(const ConstMatrix& m, int64_t i, int64_t j) {
  const int64_t at = i * m.row_stride + j * m.col_stride;
  return m.dtype == DType::kBF16 ? static_cast<float>(static_cast<const BF16*>(m.data)[at])
                                 : static_cast<const float*>(m.data)[at];
}

int64_t PackedBytes(int64_t rows, int64_t cols) { return rows * cols * 4; }

// Row-major f32, for both operands.
void Pack(const ConstMatrix& m, void* packed) {
  float* to = static_cast<float*>(packed);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.cols; ++j) *to++ = Element(m, i, j);
  }
}

void Run(int64_t m, int64_t n, int64_t k, const void* packed_a, const void* packed_b, float* c,
         int64_t ldc, bool accumulate) {
  const float* a = static_cast<const float*>(packed_a);
  const float* b = static_cast<const float*>(packed_b);
  for (int64_t i = 0; i < m; ++i) {
    float* row = c + i * ldc;
    if (!accumulate) std::fill(row, row + n, 0.0f);
    for (int64_t kk = 0; kk < k; ++kk) {
      const float x = a[i * k + kk];
      for (int64_t j = 0; j < n; ++j) row[j] += x * b[kk * n + j];
    }
  }
}

double Spin(int64_t rounds) {
  float acc[16] = {};
  for (int64_t i = 0; i < rounds; ++i) {
    for (float& x : acc) x = x * 0.5f + 0.25f;
  }
  volatile float keep = acc[0] + acc[15];
  static_cast<void>(keep);
  return 32.0 * static_cast<double>(rounds);
}

constexpr BlockGemm kPlain = {"plain",     1,           1,    1,    false, 256, 64,
                              PackedBytes, PackedBytes, Pack, Pack, Run,   Spin};

}  // namespace

const BlockGemm* PlainBlockGemm() { return &kPlain; }

}  // namespace wt::tensor
