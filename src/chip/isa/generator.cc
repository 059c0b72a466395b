#include "chip/isa/generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/random.h"

namespace wt::chip {
namespace {

constexpr uint64_t kXorwowStream = 1, kXorshiftStream = 2;

}  // namespace

uint32_t NextXorwow(XorwowState& state) {
  uint32_t t = state[0] ^ (state[0] >> 2);
  for (size_t i = 0; i < 4; ++i) state[i] = state[i + 1];
  t = (state[4] ^ (state[4] << 4)) ^ (t ^ (t << 1));
  state[4] = t;
  state[5] += 362437;
  return t + state[5];
}

XorwowState SeedXorwow(uint64_t seed, uint32_t lane) {
  Philox source(seed, kXorwowStream << 32 | lane);
  XorwowState state;
  for (uint32_t& word : state) word = source.NextU32();
  state[0] |= 1;  // a register of zeros would stay there
  return state;
}

uint32_t UniformBelow(float bound) {
  if (!(bound > 0)) return 0;
  return static_cast<uint32_t>(std::min(std::ceil(bound * 0x1p24), 0x1p24));
}

uint32_t NextXorshift32(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

uint32_t SeedXorshift32(uint64_t seed, uint32_t lane) {
  const uint32_t word = Philox(seed, kXorshiftStream << 32 | lane).NextU32();
  return word ? word : 1;
}

}  // namespace wt::chip
