// Instruction sets that the vectorised kernels are compiled for: plain (one lane), AVX2 and
// AVX-512 (Highway's AVX3). Include before hwy/foreach_target.h; fewer targets, faster builds.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
