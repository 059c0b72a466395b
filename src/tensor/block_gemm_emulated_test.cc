// Packing, blocking and edges of the AVX-512 and AMX kernels, run here without their instructions.
#define WT_LANES 16
#include "tensor/block_gemm_emulated.h"

#include <gtest/gtest.h>

#include "tensor/block_gemm_bf16.h"
#include "tensor/block_gemm_f32.h"

namespace wt::tensor {
namespace {

WT_INLINE F32 AsF32(U32 bits) { return (F32)bits; }

struct EmulatedDot {
  WT_INLINE static F32 Add(F32 acc, U32 a, U32 b) {
    return acc + AsF32(a << 16) * AsF32(b << 16) + AsF32(a & 0xffff0000u) * AsF32(b & 0xffff0000u);
  }
};

// Eight tiles of 16 rows of 16 words, as AMX defines TILELOADD, TILESTORED and TDPBF16PS.
struct EmulatedTiles {
  static inline thread_local U32 tile[8][16];

  static void Configure() {}
  template <int kTile>
  static void Zero() {
    for (U32& row : tile[kTile]) row = U32{};
  }
  template <int kTile>
  static void Load(const void* from, int64_t stride) {
    for (int r = 0; r < 16; ++r) {
      tile[kTile][r] = tensor::Load<U32>(static_cast<const char*>(from) + r * stride);
    }
  }
  template <int kTile>
  static void Store(void* to, int64_t stride) {
    for (int r = 0; r < 16; ++r) tensor::Store(tile[kTile][r], static_cast<char*>(to) + r * stride);
  }
  template <int kSum, int kA, int kB>
  static void Dot() {
    for (int m = 0; m < 16; ++m) {
      F32 sum = AsF32(tile[kSum][m]);
      for (int k = 0; k < 16; ++k) {
        sum = EmulatedDot::Add(sum, U32{} + tile[kA][m][k], tile[kB][k]);
      }
      tile[kSum][m] = (U32)sum;
    }
  }
};

constexpr BlockGemm kEmulatedAvx512 = F32Kernel<12>::Table("avx512_emulated", 256, 192);
constexpr BlockGemm kEmulatedDot = BF16DotKernel<EmulatedDot>::Table("avx512_bf16_emulated");
constexpr BlockGemm kEmulatedAmx = AmxKernel<EmulatedTiles>::Table("amx_emulated");

TEST(BlockGemmEmulatedTest, TransposeExchangesRowsAndLanes) {
  U32 rows[16];
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t j = 0; j < 16; ++j) rows[i][j] = i * 100 + j;
  }
  Transpose(rows);
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t j = 0; j < 16; ++j) ASSERT_EQ(rows[i][j], j * 100 + i);
  }
}

TEST(BlockGemmEmulatedTest, RoundToBF16IsThatOfDType) {
  U32 bits = {0x3f800000, 0x3f808000, 0x3f818000, 0x7f7fffff,
              0x7f800000, 0x7f800001, 0xffc00000, 1};
  const U16 rounded = RoundToBF16(bits);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(rounded[i], BF16(std::bit_cast<float>(static_cast<uint32_t>(bits[i]))).bits) << i;
  }
}

}  // namespace

std::vector<const BlockGemm*> AllBlockGemmsForTest() {
  auto all = AvailableBlockGemms();
  all.insert(all.end(), {&kEmulatedAvx512, &kEmulatedDot, &kEmulatedAmx});
  return all;
}

}  // namespace wt::tensor
