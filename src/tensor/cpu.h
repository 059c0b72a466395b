// What this processor and its operating system let a program use, for the choice of kernels.
#pragma once

namespace wt::tensor {

struct CpuFeatures {
  bool avx2;         // with FMA
  bool avx512;       // F, BW, DQ and VL
  bool avx512_bf16;  // with avx512
  bool amx_bf16;     // with AMX-TILE and avx512; the kernel must still be asked
};

// All false on other than x86-64.
const CpuFeatures& Cpu();

// Linux gives tile registers only to a process that asked; asks once. False when refused.
bool AskForAmx();

}  // namespace wt::tensor
