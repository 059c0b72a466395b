#include "base/python_random.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "base/status.h"

namespace wt {
namespace {

// Above this size random.sample remembers what it took instead of keeping the rest in a list.
int64_t PoolLimit(int64_t k) {
  int64_t limit = 21;
  if (k <= 5) return limit;
  int64_t power = 1;  // 4 ^ ceil(log4(3 k))
  while (power < 3 * k) power *= 4;
  return limit + power;
}

}  // namespace

PythonRandom::PythonRandom(uint64_t seed) {
  std::vector<uint32_t> key = {static_cast<uint32_t>(seed)};
  if (seed >> 32) key.push_back(static_cast<uint32_t>(seed >> 32));
  Seed(19650218);
  size_t i = 1, j = 0;
  for (size_t k = std::max(kWords, key.size()); k > 0; --k) {
    const uint32_t before = state_[i - 1] ^ (state_[i - 1] >> 30);
    state_[i] = (state_[i] ^ (before * 1664525u)) + key[j] + static_cast<uint32_t>(j);
    if (++i == kWords) state_[0] = state_[kWords - 1], i = 1;
    if (++j == key.size()) j = 0;
  }
  for (size_t k = kWords - 1; k > 0; --k) {
    const uint32_t before = state_[i - 1] ^ (state_[i - 1] >> 30);
    state_[i] = (state_[i] ^ (before * 1566083941u)) - static_cast<uint32_t>(i);
    if (++i == kWords) state_[0] = state_[kWords - 1], i = 1;
  }
  state_[0] = 0x80000000u;
}

void PythonRandom::Seed(uint32_t seed) {
  state_[0] = seed;
  for (size_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }
}

void PythonRandom::Refill() {
  constexpr size_t kShift = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

uint32_t PythonRandom::NextU32() {
  if (next_ == kWords) Refill();
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

int64_t PythonRandom::NextBelow(int64_t n) {
  WT_CHECK(n >= 1 && n < (int64_t{1} << 32), "NextBelow({})", n);
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(n)));
  int64_t draw = NextBits(bits);
  while (draw >= n) draw = NextBits(bits);
  return draw;
}

std::vector<int64_t> PythonRandom::Sample(int64_t n, int64_t k) {
  WT_CHECK(k <= n, "a sample of {} from {}", k, n);
  std::vector<int64_t> taken;
  if (n <= PoolLimit(k)) {
    std::vector<int64_t> pool(static_cast<size_t>(n));
    std::iota(pool.begin(), pool.end(), int64_t{0});
    for (int64_t i = 0; i < k; ++i) {
      const auto j = static_cast<size_t>(NextBelow(n - i));
      taken.push_back(pool[j]);
      pool[j] = pool[static_cast<size_t>(n - i - 1)];
    }
    return taken;
  }
  std::set<int64_t> seen;
  for (int64_t i = 0; i < k; ++i) {
    int64_t j = NextBelow(n);
    while (!seen.insert(j).second) j = NextBelow(n);
    taken.push_back(j);
  }
  return taken;
}

}  // namespace wt
