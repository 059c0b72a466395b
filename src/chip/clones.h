// WT_CLONES before a function compiles its loops for AVX2 and AVX-512 too and picks at run time.
// The bits are the same on each: sums have a written order and fma only stands where it is meant.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && defined(__GNUC__)
#define WT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else  // sanitizers cannot run the resolvers that choose a clone
#define WT_CLONES
#endif

// For functions and operators that clones call in their loops.
#define WT_INLINE inline __attribute__((always_inline))
