// The f32 block product on the vectors of block_gemm_vec.h, for a micro-tile of kMr rows by two
// vectors: both operands are widened to f32 while packing. Included by one file per instruction
// set.
//
// Packed A: panels of kMr rows, each row contiguous in k (the micro-kernel broadcasts single
// elements, so rows need no interleaving). Packed B: panels of kNr columns, one row of k after
// another.
#pragma once

#include "tensor/block_gemm.h"
#include "tensor/block_gemm_vec.h"

namespace wt::tensor {
namespace {

template <int kMr>
struct F32Kernel {
  static constexpr int kNr = 2 * kLanes;

  // The extra vector keeps the rows of a panel out of one another's cache sets.
  static int64_t RowStride(int64_t k) { return RoundUp(k, kLanes) + kLanes; }
  static int64_t PackedABytes(int64_t m, int64_t k) { return RoundUp(m, kMr) * RowStride(k) * 4; }
  static int64_t PackedBBytes(int64_t k, int64_t n) { return RoundUp(n, kNr) * k * 4; }

  static float* Row(float* packed, int64_t i, int64_t stride) { return packed + i * stride; }

  template <bool kBF16>
  static void PackARows(const ConstMatrix& a, float* packed) {
    const int64_t stride = RowStride(a.cols);
    for (int64_t i = 0; i < a.rows; ++i) {
      float* to = packed + i * stride;
      const int64_t from = i * a.row_stride;
      PrefetchLine<kBF16>(a.data, from + kRowsAhead * a.row_stride, a.cols);
      int64_t k = 0;
      for (; k + kLanes <= a.cols; k += kLanes) Store(LoadF32<kBF16>(a.data, from + k), to + k);
      if (k < a.cols) Store(LoadPartF32<kBF16>(a.data, from + k, a.cols - k), to + k);
    }
  }

  // Transposes a square in registers: `lines` <= kLanes vectors of `width` elements, `stride`
  // apart, become rows of the packed operand, `pitch` apart. Called with kLanes literally for whole
  // squares.
  template <bool kBF16>
  WT_INLINE static void TransposeSquare(const void* data, int64_t at, int64_t stride, int64_t lines,
                                        int64_t width, float* to, int64_t pitch) {
    U32 square[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) {
      if (r >= lines) {
        square[r] = U32{};
      } else if (width >= kLanes) {
        square[r] = LoadF32<kBF16>(data, at + r * stride);
      } else {
        square[r] = LoadPartF32<kBF16>(data, at + r * stride, width);
      }
    }
    Transpose(square);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) {
      if (r < width) Store(square[r], to + r * pitch);
    }
  }

  // Squares of a matrix whose contiguous lines are `lines` vectors along k or n of `width`
  // elements.
  template <bool kBF16>
  static void TransposeInto(const void* data, int64_t line_stride, int64_t lines, int64_t width,
                            float* packed, int64_t line_pitch, int64_t pitch) {
    for (int64_t k = 0; k < lines; k += kLanes) {
      for (int r = 0; r < kLanes && k + kLanes + r < lines; ++r) {
        PrefetchLine<kBF16>(data, (k + kLanes + r) * line_stride, width);
      }
      for (int64_t i = 0; i < width; i += kLanes) {
        const int64_t at = k * line_stride + i;
        float* to = packed + k * line_pitch + i * pitch;
        if (k + kLanes <= lines && i + kLanes <= width) {
          TransposeSquare<kBF16>(data, at, line_stride, kLanes, kLanes, to, pitch);
        } else {
          TransposeSquare<kBF16>(data, at, line_stride, Min(kLanes, lines - k), width - i, to,
                                 pitch);
        }
      }
    }
  }

  static void PackA(const ConstMatrix& a, void* to) {
    float* packed = static_cast<float*>(to);
    const bool bf16 = a.dtype == DType::kBF16;
    if (a.col_stride == 1) {
      bf16 ? PackARows<true>(a, packed) : PackARows<false>(a, packed);
    } else {
      const int64_t stride = RowStride(a.cols);
      bf16 ? TransposeInto<true>(a.data, a.col_stride, a.cols, a.rows, packed, 1, stride)
           : TransposeInto<false>(a.data, a.col_stride, a.cols, a.rows, packed, 1, stride);
    }
    const int64_t stride = RowStride(a.cols);
    const int64_t end = RoundUp(a.rows, kMr) * stride;
    for (int64_t i = a.rows * stride; i < end; ++i) packed[i] = 0;
  }

  // Rows first, so that whole cache lines are read; kGroup panels at a time, so that few are
  // written.
  template <bool kBF16>
  static void PackBRows(const ConstMatrix& b, float* packed) {
    constexpr int64_t kGroup = 4 * kNr;
    const int64_t panel = kNr * b.rows;
    int64_t first = 0;
    for (; first + kGroup <= b.cols; first += kGroup) {
      float* to = packed + first * b.rows;
      for (int64_t k = 0; k < b.rows; ++k, to += kNr) {
#pragma GCC unroll 8
        for (int64_t v = 0; v < 8; ++v) {
          Store(LoadF32<kBF16>(b.data, k * b.row_stride + first + v * kLanes),
                to + v / 2 * panel + v % 2 * kLanes);
        }
      }
    }
    for (; first < b.cols; first += kLanes) {
      float* to = packed + first / kNr * panel + first % kNr;
      for (int64_t k = 0; k < b.rows; ++k, to += kNr) {
        const int64_t from = k * b.row_stride + first;
        Store(first + kLanes <= b.cols ? LoadF32<kBF16>(b.data, from)
                                       : LoadPartF32<kBF16>(b.data, from, b.cols - first),
              to);
      }
    }
  }

  template <bool kBF16>
  static void PackBColumns(const ConstMatrix& b, float* packed) {
    for (int64_t j = 0; j < b.cols; j += kLanes) {
      const void* columns = static_cast<const char*>(b.data) + j * b.col_stride * (kBF16 ? 2 : 4);
      TransposeInto<kBF16>(columns, b.col_stride, Min(kLanes, b.cols - j), b.rows,
                           packed + j / kNr * kNr * b.rows + j % kNr, 0, kNr);
    }
  }

  static void PackB(const ConstMatrix& b, void* to) {
    float* packed = static_cast<float*>(to);
    const bool bf16 = b.dtype == DType::kBF16;
    if (b.col_stride == 1) {
      bf16 ? PackBRows<true>(b, packed) : PackBRows<false>(b, packed);
    } else {
      bf16 ? PackBColumns<true>(b, packed) : PackBColumns<false>(b, packed);
    }
    // The last panel's second vector, when no column reaches it.
    const int64_t used = RoundUp(b.cols, kLanes);
    if (used % kNr == 0) return;
    float* pad = packed + (used / kNr) * kNr * b.rows + used % kNr;
    for (int64_t k = 0; k < b.rows; ++k) Store(F32{}, pad + k * kNr);
  }

  WT_INLINE static void MicroTile(int64_t k, const float* a, int64_t a_stride, const float* b,
                                  F32 (&acc)[kMr][2]) {
    for (int64_t kk = 0; kk < k; ++kk) {
      const F32 b0 = Load<F32>(b + kk * kNr);
      const F32 b1 = Load<F32>(b + kk * kNr + kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kMr; ++r) {
        const float ar = a[r * a_stride + kk];
        acc[r][0] += ar * b0;
        acc[r][1] += ar * b1;
      }
    }
  }

  static void WholeTile(int64_t k, const float* a, int64_t a_stride, const float* b, float* c,
                        int64_t ldc, bool accumulate) {
    F32 acc[kMr][2] = {};
    if (accumulate) {
#pragma GCC unroll 16
      for (int r = 0; r < kMr; ++r) __builtin_prefetch(c + r * ldc);
    }
    MicroTile(k, a, a_stride, b, acc);
#pragma GCC unroll 16
    for (int r = 0; r < kMr; ++r) {
      float* to = c + r * ldc;
      if (accumulate) {
        acc[r][0] += Load<F32>(to);
        acc[r][1] += Load<F32>(to + kLanes);
      }
      Store(acc[r][0], to);
      Store(acc[r][1], to + kLanes);
    }
  }

  static void PartTile(int64_t rows, int64_t cols, int64_t k, const float* a, int64_t a_stride,
                       const float* b, float* c, int64_t ldc, bool accumulate) {
    float tile[kMr * kNr];
    WholeTile(k, a, a_stride, b, tile, kNr, false);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < cols; ++j) {
        const float sum = tile[r * kNr + j];
        c[r * ldc + j] = accumulate ? sum + c[r * ldc + j] : sum;
      }
    }
  }

  static void Run(int64_t m, int64_t n, int64_t k, const void* packed_a, const void* packed_b,
                  float* c, int64_t ldc, bool accumulate) {
    const int64_t stride = RowStride(k);
    const int64_t share = k * kNr * 4 / (RoundUp(m, kMr) / kMr) + 64;
    for (int64_t j = 0; j < n; j += kNr) {
      const float* b = static_cast<const float*>(packed_b) + j * k;
      const char* next = reinterpret_cast<const char*>(b + k * kNr);
      for (int64_t i = 0; i < m; i += kMr, next += share) {
        const float* a = static_cast<const float*>(packed_a) + i * stride;
        float* to = c + i * ldc + j;
        if (j + kNr < n) PrefetchToL2(next, share);
        if (i + kMr <= m && j + kNr <= n) {
          WholeTile(k, a, stride, b, to, ldc, accumulate);
        } else {
          PartTile(Min(kMr, m - i), Min(kNr, n - j), k, a, stride, b, to, ldc, accumulate);
        }
      }
    }
  }

  // Independent multiply-adds in registers, for the measured peak; returns FLOPs.
  static double Spin(int64_t rounds) {
    F32 acc[kMr][2];
#pragma GCC unroll 16
    for (int r = 0; r < kMr; ++r) {
      acc[r][0] = F32{} + static_cast<float>(2 * r);
      acc[r][1] = F32{} + static_cast<float>(2 * r + 1);
    }
    const F32 x = F32{} + 0.5f, y = F32{} + 0.25f;
    for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
      for (int r = 0; r < kMr; ++r) {
        acc[r][0] = acc[r][0] * x + y;
        acc[r][1] = acc[r][1] * x + y;
      }
    }
    F32 sum = {};
#pragma GCC unroll 16
    for (int r = 0; r < kMr; ++r) sum += acc[r][0] + acc[r][1];
    volatile float keep = sum[0];
    static_cast<void>(keep);
    return 2.0 * 2 * kMr * kLanes * static_cast<double>(rounds);
  }

  static constexpr BlockGemm Table(const char* name, int64_t kc, int64_t mc) {
    return {name, kMr, kNr, 1, false, kc, mc, PackedABytes, PackedBBytes, PackA, PackB, Run, Spin};
  }
};

}  // namespace
}  // namespace wt::tensor
