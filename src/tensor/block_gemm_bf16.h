// Packing for the instruction sets that multiply pairs of bf16 values, and the block products on
// it: dot-product vectors (AVX-512 BF16) and tiles (AMX). Defined on vectors of 16 lanes.
//
// Packed A: rows of k, kRowPad apart, zeros up to whole 32s. Packed B: panels of 16 columns, each a
// sequence of vectors that hold two rows of k interleaved (VNNI order): lane j of vector p is
// (B[2p, j], B[2p + 1, j]), zeros up to whole 16 vectors. 16 rows of A, or 16 vectors of B, are one
// tile as AMX loads it.
//
// The instructions themselves come in as a template argument, so that tests can run packing and
// blocking with a plain C++ stand-in on any processor.
#pragma once

#include "tensor/block_gemm.h"
#include "tensor/block_gemm_vec.h"

namespace wt::tensor {
namespace {

static_assert(kLanes == 16);
constexpr int64_t kTileDepth = 32;  // values of k in a tile: 64 bytes a row

struct BF16Packing {
  static constexpr int64_t kPanel = 16;  // columns of B

  // In elements. The extra cache line keeps the rows of a tile out of one another's cache sets.
  static int64_t RowStride(int64_t k) { return RoundUp(k, kTileDepth) + kTileDepth; }
  static int64_t PanelStride(int64_t k) { return RoundUp(k, kTileDepth) * kPanel; }

  // n <= 16 elements as bf16 in the low half of each lane; the other lanes are zero.
  template <bool kBF16>
  WT_INLINE static U32 LoadLow(const void* data, int64_t index, int64_t n) {
    if constexpr (kBF16) {
      const uint16_t* from = static_cast<const uint16_t*>(data) + index;
      return __builtin_convertvector(n >= kLanes ? Load<U16>(from) : LoadPart<U16>(from, n), U32);
    } else {
      const float* from = static_cast<const float*>(data) + index;
      const U32 bits = n >= kLanes ? Load<U32>(from) : LoadPart<U32>(from, n);
      return __builtin_convertvector(RoundToBF16(bits), U32);
    }
  }

  // Lines are contiguous runs of the matrix: `lines` rows of it, `stride` apart. Word p of lane j
  // is (line[2p][j], line[2p + 1][j]).
  template <bool kBF16>
  WT_INLINE static U32 InterleaveLines(const void* data, int64_t at, int64_t stride, int64_t lines,
                                       int64_t width) {
    const U32 low = LoadLow<kBF16>(data, at, width);
    return lines > 1 ? low | (LoadLow<kBF16>(data, at + stride, width) << 16) : low;
  }

  // 32 consecutive elements of one line as 16 words of two; zeros past n.
  template <bool kBF16>
  WT_INLINE static U32 PairsOfLine(const void* data, int64_t at, int64_t n) {
    if (kBF16 && n >= kTileDepth) return Load<U32>(static_cast<const uint16_t*>(data) + at);
    uint16_t line[kTileDepth] = {};
    for (int64_t i = 0; i < kTileDepth && i < n; i += kLanes) {
      Store(__builtin_convertvector(LoadLow<kBF16>(data, at + i, n - i), U16), line + i);
    }
    return Load<U32>(line);
  }

  template <bool kBF16>
  static void PackARows(const ConstMatrix& a, uint16_t* packed) {
    const int64_t stride = RowStride(a.cols);
    for (int64_t i = 0; i < a.rows; ++i) {
      PrefetchLine<kBF16>(a.data, (i + kRowsAhead) * a.row_stride, a.cols);
      for (int64_t k = 0; k < a.cols; k += kTileDepth) {
        Store(PairsOfLine<kBF16>(a.data, i * a.row_stride + k, a.cols - k),
              packed + i * stride + k);
      }
    }
  }

  // 32 lines (rows of k) of 16 elements become 16 rows of 32, `pitch` apart. Called with literal
  // sizes for whole squares.
  template <bool kBF16>
  WT_INLINE static void TransposeLines(const void* data, int64_t at, int64_t stride, int64_t lines,
                                       int64_t width, uint16_t* to, int64_t pitch) {
    U32 square[kLanes];
#pragma GCC unroll 16
    for (int p = 0; p < kLanes; ++p) {
      square[p] = U32{};
      if (2 * p < lines) {
        square[p] = InterleaveLines<kBF16>(data, at + 2 * p * stride, stride, lines - 2 * p, width);
      }
    }
    Transpose(square);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) {
      if (r < width) Store(square[r], to + r * pitch);
    }
  }

  template <bool kBF16>
  static void PackAColumns(const ConstMatrix& a, uint16_t* packed) {
    const int64_t stride = RowStride(a.cols);
    for (int64_t k = 0; k < a.cols; k += kTileDepth) {
      for (int64_t l = k + kTileDepth; l < Min(a.cols, k + 2 * kTileDepth); ++l) {
        PrefetchLine<kBF16>(a.data, l * a.col_stride, a.rows);
      }
      for (int64_t i = 0; i < a.rows; i += kLanes) {
        const int64_t at = k * a.col_stride + i;
        uint16_t* to = packed + i * stride + k;
        if (k + kTileDepth <= a.cols && i + kLanes <= a.rows) {
          TransposeLines<kBF16>(a.data, at, a.col_stride, kTileDepth, kLanes, to, stride);
        } else {
          TransposeLines<kBF16>(a.data, at, a.col_stride, a.cols - k, a.rows - i, to, stride);
        }
      }
    }
  }

  template <int kMr>
  static void PackA(const ConstMatrix& a, void* to) {
    uint16_t* packed = static_cast<uint16_t*>(to);
    const bool bf16 = a.dtype == DType::kBF16;
    if (a.col_stride == 1) {
      bf16 ? PackARows<true>(a, packed) : PackARows<false>(a, packed);
    } else {
      bf16 ? PackAColumns<true>(a, packed) : PackAColumns<false>(a, packed);
    }
    const int64_t stride = RowStride(a.cols);
    const int64_t end = RoundUp(a.rows, kMr) * stride;
    for (int64_t i = a.rows * stride; i < end; ++i) packed[i] = 0;
  }

  template <bool kBF16>
  static void PackBRows(const ConstMatrix& b, uint16_t* packed) {
    const int64_t stride = PanelStride(b.rows);
    for (int64_t k = 0; k < RoundUp(b.rows, kTileDepth); k += 2) {
      for (int64_t j = 0; j < b.cols; j += kPanel) {
        U32 pairs = {};
        if (k < b.rows) {
          pairs = InterleaveLines<kBF16>(b.data, k * b.row_stride + j, b.row_stride, b.rows - k,
                                         b.cols - j);
        }
        Store(pairs, packed + (j / kPanel) * stride + k * kPanel);
      }
    }
  }

  // 16 lines (columns of B) of 32 elements become 16 vectors of pairs. Called with literal sizes
  // for whole squares.
  template <bool kBF16>
  WT_INLINE static void TransposePairs(const void* data, int64_t at, int64_t stride, int64_t lines,
                                       int64_t depth, uint16_t* to) {
    U32 square[kLanes];
#pragma GCC unroll 16
    for (int c = 0; c < kLanes; ++c) {
      square[c] = U32{};
      if (c < lines) square[c] = PairsOfLine<kBF16>(data, at + c * stride, depth);
    }
    Transpose(square);
#pragma GCC unroll 16
    for (int p = 0; p < kLanes; ++p) Store(square[p], to + p * kTileDepth);
  }

  template <bool kBF16>
  static void PackBColumns(const ConstMatrix& b, uint16_t* packed) {
    const int64_t stride = PanelStride(b.rows);
    for (int64_t j = 0; j < b.cols; j += kPanel) {
      for (int64_t k = 0; k < b.rows; k += kTileDepth) {
        const int64_t at = j * b.col_stride + k;
        uint16_t* to = packed + j / kPanel * stride + k * kPanel;
        if (j + kPanel <= b.cols && k + kTileDepth <= b.rows) {
          TransposePairs<kBF16>(b.data, at, b.col_stride, kPanel, kTileDepth, to);
        } else {
          TransposePairs<kBF16>(b.data, at, b.col_stride, b.cols - j, b.rows - k, to);
        }
      }
    }
  }

  template <int kNr>
  static void PackB(const ConstMatrix& b, void* to) {
    uint16_t* packed = static_cast<uint16_t*>(to);
    const bool bf16 = b.dtype == DType::kBF16;
    if (b.col_stride == 1) {
      bf16 ? PackBRows<true>(b, packed) : PackBRows<false>(b, packed);
    } else {
      bf16 ? PackBColumns<true>(b, packed) : PackBColumns<false>(b, packed);
    }
    const int64_t stride = PanelStride(b.rows);
    const int64_t end = RoundUp(b.cols, kNr) / kPanel * stride;
    for (int64_t i = RoundUp(b.cols, kPanel) / kPanel * stride; i < end; ++i) packed[i] = 0;
  }

  template <int kMr>
  static int64_t PackedABytes(int64_t m, int64_t k) {
    return RoundUp(m, kMr) * RowStride(k) * 2;
  }
  template <int kNr>
  static int64_t PackedBBytes(int64_t k, int64_t n) {
    return RoundUp(n, kNr) / kPanel * PanelStride(k) * 2;
  }
};

// 12 x 32 micro-tile of dot products. Dot::Add(acc, a, b) adds the two products of each lane.
template <class Dot>
struct BF16DotKernel {
  static constexpr int kMr = 12, kNr = 32;
  using P = BF16Packing;

  static void WholeTile(int64_t k, const uint16_t* a, int64_t a_stride, const uint16_t* b,
                        int64_t b_stride, float* c, int64_t ldc, bool accumulate) {
    F32 acc[kMr][2] = {};
    for (int64_t kk = 0; kk < k; kk += 2) {
      const U32 b0 = Load<U32>(b + kk * P::kPanel);
      const U32 b1 = Load<U32>(b + b_stride + kk * P::kPanel);
#pragma GCC unroll 16
      for (int r = 0; r < kMr; ++r) {
        uint32_t pair;
        __builtin_memcpy(&pair, a + r * a_stride + kk, 4);
        const U32 ar = U32{} + pair;
        acc[r][0] = Dot::Add(acc[r][0], ar, b0);
        acc[r][1] = Dot::Add(acc[r][1], ar, b1);
      }
    }
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

  static void PartTile(int64_t rows, int64_t cols, int64_t k, const uint16_t* a, int64_t a_stride,
                       const uint16_t* b, int64_t b_stride, float* c, int64_t ldc,
                       bool accumulate) {
    float tile[kMr * kNr];
    WholeTile(k, a, a_stride, b, b_stride, tile, kNr, false);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < cols; ++j) {
        const float sum = tile[r * kNr + j];
        c[r * ldc + j] = accumulate ? sum + c[r * ldc + j] : sum;
      }
    }
  }

  static void Run(int64_t m, int64_t n, int64_t k, const void* packed_a, const void* packed_b,
                  float* c, int64_t ldc, bool accumulate) {
    const int64_t a_stride = P::RowStride(k), b_stride = P::PanelStride(k);
    for (int64_t j = 0; j < n; j += kNr) {
      const uint16_t* b = static_cast<const uint16_t*>(packed_b) + j / P::kPanel * b_stride;
      for (int64_t i = 0; i < m; i += kMr) {
        const uint16_t* a = static_cast<const uint16_t*>(packed_a) + i * a_stride;
        float* to = c + i * ldc + j;
        if (i + kMr <= m && j + kNr <= n) {
          WholeTile(k, a, a_stride, b, b_stride, to, ldc, accumulate);
        } else {
          PartTile(Min(kMr, m - i), Min(kNr, n - j), k, a, a_stride, b, b_stride, to, ldc,
                   accumulate);
        }
      }
    }
  }

  static double Spin(int64_t rounds) {
    F32 acc[kMr][2];
#pragma GCC unroll 16
    for (int r = 0; r < kMr; ++r) {
      acc[r][0] = F32{} + static_cast<float>(2 * r);
      acc[r][1] = F32{} + static_cast<float>(2 * r + 1);
    }
    const U32 x = U32{} + 0x3f003f00u, y = U32{} + 0x3e803e80u;
    for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
      for (int r = 0; r < kMr; ++r) {
        acc[r][0] = Dot::Add(acc[r][0], x, y);
        acc[r][1] = Dot::Add(acc[r][1], x, y);
      }
    }
    F32 sum = {};
#pragma GCC unroll 16
    for (int r = 0; r < kMr; ++r) sum += acc[r][0] + acc[r][1];
    volatile float keep = sum[0];
    static_cast<void>(keep);
    return 4.0 * 2 * kMr * kLanes * static_cast<double>(rounds);
  }

  static constexpr BlockGemm Table(const char* name) {
    return {name,
            kMr,
            kNr,
            2,
            true,
            512,
            192,
            P::PackedABytes<kMr>,
            P::PackedBBytes<kNr>,
            P::PackA<kMr>,
            P::PackB<kNr>,
            Run,
            Spin};
  }
};

// 32 x 32 micro-tile of 2 x 2 tiles: tiles 0-3 are sums, 4-5 rows of A, 6-7 columns of B, so that
// four loads feed four products. Tiles:: has Configure, Zero, Load, Store and Dot.
template <class Tiles>
struct AmxKernel {
  static constexpr int kMr = 32, kNr = 32;
  using P = BF16Packing;

  // The sums start from C, so that a part of a tile, copied in and out, gets the same bits.
  static void WholeTile(int64_t k, const uint16_t* a, int64_t a_stride, const uint16_t* b,
                        int64_t b_stride, float* c, int64_t ldc, bool accumulate) {
    const int64_t c_bytes = ldc * 4, a_bytes = a_stride * 2;
    if (accumulate) {
      Tiles::template Load<0>(c, c_bytes);
      Tiles::template Load<1>(c + 16, c_bytes);
      Tiles::template Load<2>(c + 16 * ldc, c_bytes);
      Tiles::template Load<3>(c + 16 * ldc + 16, c_bytes);
    } else {
      Tiles::template Zero<0>();
      Tiles::template Zero<1>();
      Tiles::template Zero<2>();
      Tiles::template Zero<3>();
    }
    for (int64_t kk = 0; kk < k; kk += kTileDepth) {
      Tiles::template Load<4>(a + kk, a_bytes);
      Tiles::template Load<6>(b + kk * P::kPanel, 64);
      Tiles::template Load<7>(b + b_stride + kk * P::kPanel, 64);
      Tiles::template Dot<0, 4, 6>();
      Tiles::template Dot<1, 4, 7>();
      Tiles::template Load<5>(a + 16 * a_stride + kk, a_bytes);
      Tiles::template Dot<2, 5, 6>();
      Tiles::template Dot<3, 5, 7>();
    }
    Tiles::template Store<0>(c, c_bytes);
    Tiles::template Store<1>(c + 16, c_bytes);
    Tiles::template Store<2>(c + 16 * ldc, c_bytes);
    Tiles::template Store<3>(c + 16 * ldc + 16, c_bytes);
  }

  static void PartTile(int64_t rows, int64_t cols, int64_t k, const uint16_t* a, int64_t a_stride,
                       const uint16_t* b, int64_t b_stride, float* c, int64_t ldc,
                       bool accumulate) {
    alignas(64) float tile[kMr * kNr] = {};
    for (int64_t r = 0; accumulate && r < rows; ++r) {
      __builtin_memcpy(tile + r * kNr, c + r * ldc, static_cast<size_t>(cols) * 4);
    }
    WholeTile(k, a, a_stride, b, b_stride, tile, kNr, accumulate);
    for (int64_t r = 0; r < rows; ++r) {
      __builtin_memcpy(c + r * ldc, tile + r * kNr, static_cast<size_t>(cols) * 4);
    }
  }

  static void Run(int64_t m, int64_t n, int64_t k, const void* packed_a, const void* packed_b,
                  float* c, int64_t ldc, bool accumulate) {
    Tiles::Configure();
    const int64_t a_stride = P::RowStride(k), b_stride = P::PanelStride(k);
    for (int64_t j = 0; j < n; j += kNr) {
      const uint16_t* b = static_cast<const uint16_t*>(packed_b) + j / P::kPanel * b_stride;
      for (int64_t i = 0; i < m; i += kMr) {
        const uint16_t* a = static_cast<const uint16_t*>(packed_a) + i * a_stride;
        float* to = c + i * ldc + j;
        if (i + kMr <= m && j + kNr <= n) {
          WholeTile(k, a, a_stride, b, b_stride, to, ldc, accumulate);
        } else {
          PartTile(Min(kMr, m - i), Min(kNr, n - j), k, a, a_stride, b, b_stride, to, ldc,
                   accumulate);
        }
      }
    }
  }

  static double Spin(int64_t rounds) {
    Tiles::Configure();
    for (int64_t i = 0; i < rounds; ++i) {
      Tiles::template Dot<0, 4, 6>();
      Tiles::template Dot<1, 4, 7>();
      Tiles::template Dot<2, 5, 6>();
      Tiles::template Dot<3, 5, 7>();
    }
    return 2.0 * kMr * kNr * kTileDepth * static_cast<double>(rounds);
  }

  static constexpr BlockGemm Table(const char* name) {
    return {name,
            kMr,
            kNr,
            kTileDepth,
            true,
            640,
            256,
            P::PackedABytes<kMr>,
            P::PackedBBytes<kNr>,
            P::PackA<kMr>,
            P::PackB<kNr>,
            Run,
            Spin};
  }
};

}  // namespace
}  // namespace wt::tensor
