// Vectors of the compilers' own vector extension, for the files of block_gemm that are compiled for
// one instruction set each. WT_LANES (f32 lanes of a register) is defined before this is included.
//
// Everything is in an anonymous namespace and nothing of the standard library is called: a function
// compiled for AVX-512 must never be the copy that the linker keeps for the rest of the program.
// The same text compiled for a smaller processor is correct and slow, which is how tests run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensor/view.h"

namespace wt::tensor {
namespace {

constexpr int kLanes = WT_LANES;

typedef float F32 __attribute__((vector_size(kLanes * 4)));
typedef uint32_t U32 __attribute__((vector_size(kLanes * 4)));
typedef uint16_t U16 __attribute__((vector_size(kLanes * 2)));

#define WT_INLINE [[gnu::always_inline]] inline

constexpr int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
constexpr int64_t Min(int64_t a, int64_t b) { return a < b ? a : b; }

// The panel of B that comes next, a share of it beside each tile, so that it is near when it is
// due.
WT_INLINE void PrefetchToL2(const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 2);
}

// A line of a matrix that packing comes to soon: lines are too short, and too far apart, for the
// processor to foresee them. Prefetching past the end of the matrix is harmless.
template <bool kBF16>
WT_INLINE void PrefetchLine(const void* data, int64_t index, int64_t n) {
  const char* from = static_cast<const char*>(data) + index * (kBF16 ? 2 : 4);
  for (int64_t i = 0; i < n * (kBF16 ? 2 : 4); i += 64) __builtin_prefetch(from + i, 0, 2);
}
constexpr int64_t kRowsAhead = 4;

template <class V>
WT_INLINE V Load(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <class V>
WT_INLINE void Store(const V& v, void* to) {
  __builtin_memcpy(to, &v, sizeof(v));
}
// The first n < kLanes elements; the rest is zero.
template <class V>
WT_INLINE V LoadPart(const void* from, int64_t n) {
  V v = {};
  __builtin_memcpy(&v, from, static_cast<size_t>(n) * (sizeof(V) / kLanes));
  return v;
}

WT_INLINE U32 Widen(U16 v) { return __builtin_convertvector(v, U32) << 16; }

// f32 to bf16, to nearest even, NaN kept quiet.
WT_INLINE U16 RoundToBF16(U32 x) {
  const U32 rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  const U32 quiet = (x >> 16) | 0x40u;
  const U32 is_nan = (U32)((x & 0x7fffffffu) > 0x7f800000u);
  return __builtin_convertvector((rounded & ~is_nan) | (quiet & is_nan), U16);
}

// Reads of a matrix as f32 bits: kBF16 says what is stored.
template <bool kBF16>
WT_INLINE U32 LoadF32(const void* data, int64_t index) {
  if constexpr (kBF16) {
    return Widen(Load<U16>(static_cast<const uint16_t*>(data) + index));
  } else {
    return Load<U32>(static_cast<const uint32_t*>(data) + index);
  }
}
template <bool kBF16>
WT_INLINE U32 LoadPartF32(const void* data, int64_t index, int64_t n) {
  if constexpr (kBF16) {
    return Widen(LoadPart<U16>(static_cast<const uint16_t*>(data) + index, n));
  } else {
    return LoadPart<U32>(static_cast<const uint32_t*>(data) + index, n);
  }
}

// Lane i of row r becomes lane r of row i: at each distance, 2x2 blocks of lanes are exchanged.
template <int kDistance, bool kHigh, size_t... kLane>
WT_INLINE U32 Exchange(U32 a, U32 b, std::index_sequence<kLane...>) {
  constexpr int d = kDistance;
  if constexpr (kHigh) {
    return __builtin_shufflevector(a, b, (kLane & d ? kLane + kLanes : kLane + d)...);
  } else {
    return __builtin_shufflevector(a, b, (kLane & d ? kLane + kLanes - d : kLane)...);
  }
}
// One step of a transposition on rows[i] and rows[i + kDistance].
template <int kDistance>
WT_INLINE void ExchangeRows(U32 (&rows)[kLanes]) {
  using Lanes = std::make_index_sequence<kLanes>;
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (i & kDistance) continue;
    const U32 low = Exchange<kDistance, false>(rows[i], rows[i + kDistance], Lanes());
    rows[i + kDistance] = Exchange<kDistance, true>(rows[i], rows[i + kDistance], Lanes());
    rows[i] = low;
  }
}

// Within each 128 bits, the low (or high) halves of a and b, taken in turn by kUnit lanes: what
// x86's unpack instructions do in one go.
template <int kUnit, bool kHigh, size_t... kLane>
WT_INLINE U32 Unpack(U32 a, U32 b, std::index_sequence<kLane...>) {
  constexpr size_t first = kHigh ? 2 : 0;
  return __builtin_shufflevector(
      a, b,
      (kLane / 4 * 4 + first + kLane % kUnit + (kUnit == 1 ? kLane % 4 / 2 : 0) +
       (kLane / kUnit % 2 ? kLanes : 0))...);
}

// rows[i][j] becomes rows[j][i]: 4 x 4 squares by unpacking, then the squares by exchanges.
WT_INLINE void Transpose(U32 (&rows)[kLanes]) {
  using Lanes = std::make_index_sequence<kLanes>;
#pragma GCC unroll 4
  for (int g = 0; g < kLanes; g += 4) {
    const U32 a = Unpack<1, false>(rows[g], rows[g + 1], Lanes());
    const U32 b = Unpack<1, true>(rows[g], rows[g + 1], Lanes());
    const U32 c = Unpack<1, false>(rows[g + 2], rows[g + 3], Lanes());
    const U32 d = Unpack<1, true>(rows[g + 2], rows[g + 3], Lanes());
    rows[g] = Unpack<2, false>(a, c, Lanes());
    rows[g + 1] = Unpack<2, true>(a, c, Lanes());
    rows[g + 2] = Unpack<2, false>(b, d, Lanes());
    rows[g + 3] = Unpack<2, true>(b, d, Lanes());
  }
  ExchangeRows<4>(rows);
  if constexpr (kLanes == 16) ExchangeRows<8>(rows);
}

}  // namespace
}  // namespace wt::tensor
