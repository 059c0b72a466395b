// The engines' random number generators, one a partition (lane). GpSimd and, on generation 4, the
// Vector engine run XORWOW (Marsaglia, "Xorshift RNGs", 2003); the Vector engine before that runs a
// linear feedback shift register whose polynomial is not published, so a 32-bit xorshift stands for
// it. Numbers are reproducible here and statistically alike, not bit-exact with hardware.
#pragma once

#include <array>
#include <cstdint>

namespace wt::chip {

using XorwowState = std::array<uint32_t, 6>;  // five words of shift register, then the counter

uint32_t NextXorwow(XorwowState& state);
// Words from a seed and a lane, never all zero.
XorwowState SeedXorwow(uint64_t seed, uint32_t lane);

uint32_t NextXorshift32(uint32_t& state);
uint32_t SeedXorshift32(uint64_t seed, uint32_t lane);

// 24 bits of `bits` as a number in [0, 1).
inline float ToUniform(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
// ToUniform(bits) < bound is (bits >> 8) < UniformBelow(bound).
uint32_t UniformBelow(float bound);

}  // namespace wt::chip
