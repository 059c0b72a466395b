// CPUID and XGETBV: a register file may be used when the processor has it and the system saves it.
#include "tensor/cpu.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace wt::tensor {
namespace {

#if defined(__x86_64__)
struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers CpuId(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool Bit(uint32_t word, int bit) { return (word >> bit) & 1; }

// The register files that the operating system saves (XCR0).
uint64_t SavedState() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

CpuFeatures Detect() {
  const Registers basic = CpuId(1, 0), extended = CpuId(7, 0), more = CpuId(7, 1);
  if (!Bit(basic.ecx, 27)) return {};  // OSXSAVE: no XGETBV without it
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
  const uint64_t saved = SavedState();
  CpuFeatures f = {};
  f.avx2 = (saved & kYmm) == kYmm && Bit(extended.ebx, 5) && Bit(basic.ecx, 12);
  f.avx512 = f.avx2 && (saved & kZmm) == kZmm && Bit(extended.ebx, 16) && Bit(extended.ebx, 17) &&
             Bit(extended.ebx, 30) && Bit(extended.ebx, 31);
  f.avx512_bf16 = f.avx512 && Bit(more.eax, 5);
  f.amx_bf16 =
      f.avx512_bf16 && (saved & kTiles) == kTiles && Bit(extended.edx, 22) && Bit(extended.edx, 24);
  return f;
}
#else
CpuFeatures Detect() { return {}; }
#endif

}  // namespace

const CpuFeatures& Cpu() {
  static const CpuFeatures features = Detect();
  return features;
}

bool AskForAmx() {
#if defined(__x86_64__) && defined(__linux__)
  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
  static const bool granted = syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace wt::tensor
