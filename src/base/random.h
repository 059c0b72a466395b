// Counter-based random numbers: Philox 4x32-10 (Salmon et al., SC 2011). The i-th draw of a stream
// depends only on (seed, stream, i), so results do not depend on threads or on who drew before.
#pragma once

#include <array>
#include <cstdint>

namespace wt {

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

class Philox {
 public:
  // State is three words, so it is saved by saving seed, stream and position().
  Philox(uint64_t seed, uint64_t stream, uint64_t position = 0)
      : seed_(seed), stream_(stream), position_(position) {}

  uint64_t position() const { return position_; }
  uint32_t NextU32();
  uint64_t NextU64() { return (static_cast<uint64_t>(NextU32()) << 32) | NextU32(); }
  // Uniform in [0, n) without bias. Requires n >= 1.
  uint64_t NextBelow(uint64_t n);
  float NextUniform();  // [0, 1), 24 bits
  float NextNormal();   // Box-Muller, uses two draws

 private:
  uint64_t seed_, stream_, position_;
  uint64_t block_ = ~uint64_t{0};
  std::array<uint32_t, 4> words_{};
};

}  // namespace wt
