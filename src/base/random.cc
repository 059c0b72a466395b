#include "base/random.h"

#include <cmath>
#include <numbers>

namespace wt {

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

uint32_t Philox::NextU32() {
  const uint64_t block = position_ / 4;
  if (block != block_) {
    words_ = Philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                         static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                        {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    block_ = block;
  }
  return words_[position_++ % 4];
}

uint64_t Philox::NextBelow(uint64_t n) {
  const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % n;
  uint64_t draw;
  do {
    draw = NextU64();
  } while (draw >= limit);
  return draw % n;
}

float Philox::NextUniform() { return static_cast<float>(NextU32() >> 8) * 0x1p-24f; }

float Philox::NextNormal() {
  const float u1 = (static_cast<float>(NextU32() >> 8) + 1.0f) * 0x1p-24f;  // (0, 1]
  const float u2 = NextUniform();
  return std::sqrt(-2.0f * std::log(u1)) * std::cos(2.0f * std::numbers::pi_v<float> * u2);
}

}  // namespace wt
