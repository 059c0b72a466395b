// PythonRandom: CPython's random.Random (MT19937) to the bit, for protocols that are defined by
// what Python draws: seeding with an integer, randbelow, shuffle and sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wt {

class PythonRandom {
 public:
  explicit PythonRandom(uint64_t seed);

  uint32_t NextU32();
  // The next `bits` random bits; requires 1 <= bits <= 32.
  uint32_t NextBits(int bits) { return NextU32() >> (32 - bits); }
  // Uniform in [0, n). Requires 1 <= n < 2^32.
  int64_t NextBelow(int64_t n);
  template <class T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i-- > 1;) {
      std::swap((*items)[i], (*items)[static_cast<size_t>(NextBelow(static_cast<int64_t>(i) + 1))]);
    }
  }
  // Positions that random.sample takes from a sequence of n. Requires k <= n.
  std::vector<int64_t> Sample(int64_t n, int64_t k);

 private:
  static constexpr size_t kWords = 624;
  void Seed(uint32_t seed);
  void Refill();

  std::array<uint32_t, kWords> state_;
  size_t next_ = kWords;
};

}  // namespace wt
