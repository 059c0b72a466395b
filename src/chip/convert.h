// Elements of any type to and from fp32, integers and bits, a strided run at a time. The one place
// where values change their type; rounding is to nearest even, floats to integers saturate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace wt::chip {

// `step` counts elements of `dtype`; it may be zero or negative. Packed kinds are not converted:
// they have only bits.
void LoadFloats(DType dtype, const std::byte* from, int64_t step, int64_t n, float* to);
void StoreFloats(DType dtype, std::byte* to, int64_t step, int64_t n, const float* from);
// Integers exactly; floats are truncated toward zero.
void LoadInts(DType dtype, const std::byte* from, int64_t step, int64_t n, int64_t* to);
// Low bits kept; into floats by value.
void StoreInts(DType dtype, std::byte* to, int64_t step, int64_t n, const int64_t* from);
// Raw bits, zero-extended; elements of at most 4 bytes.
void LoadBits(DType dtype, const std::byte* from, int64_t step, int64_t n, uint32_t* to);
void StoreBits(DType dtype, std::byte* to, int64_t step, int64_t n, const uint32_t* from);

// `n` times the number, packed; integers keep all their bits.
void StoreNumber(DType dtype, double number, int64_t n, std::byte* to);

}  // namespace wt::chip
