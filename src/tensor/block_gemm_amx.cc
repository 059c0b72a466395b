// The block product for AMX: tiles of 16 rows of 64 bytes. Compiled with -mamx-tile, -mamx-bf16 and
// AVX-512 (for packing) where the build is for x86-64.
#include "tensor/block_gemm_isa.h"

#if defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(__AVX512BW__)
#define WT_LANES 16
#include "tensor/block_gemm_bf16.h"

namespace wt::tensor {
namespace {

// The instructions as assembly: the compilers' intrinsics want literal tile numbers and, in g++ 12,
// do not tell the optimiser which memory they read.
struct HardwareTiles {
  struct alignas(64) Config {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };

  // Tile state belongs to the thread, and nothing else in this program uses tiles.
  static void Configure() {
    thread_local bool configured = false;
    if (configured) return;
    const Config config;
    asm volatile("ldtilecfg %0" : : "m"(config) : "memory");
    configured = true;
  }
  template <int kTile>
  WT_INLINE static void Zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  WT_INLINE static void Load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  WT_INLINE static void Store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kA, int kB>
  WT_INLINE static void Dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};
static_assert(sizeof(HardwareTiles::Config) == 64);

constexpr BlockGemm kAmx = AmxKernel<HardwareTiles>::Table("amx");

}  // namespace
const BlockGemm* AmxBlockGemm() { return &kAmx; }
}  // namespace wt::tensor
#else
namespace wt::tensor {
const BlockGemm* AmxBlockGemm() { return nullptr; }
}  // namespace wt::tensor
#endif
