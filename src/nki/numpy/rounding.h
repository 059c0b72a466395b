// Numbers on their way into a narrow float: any number becomes a float32 that rounds to the same
// narrow value as the number itself would, so that nothing is rounded twice.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace wt::nki::numpy {

// The float next to `value` toward zero, with its last bit set when something was cut off: rounding
// it to fewer bits again gives what rounding `value` gives.
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || std::isnan(value)) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(back) > std::abs(value)) --bits;  // rounded away from zero, infinity included
  return std::bit_cast<float>(bits | 1);
}

inline float RoundToOdd(float value) { return value; }

inline float RoundToOdd(long double value) {
  double cut = static_cast<double>(value);
  if (static_cast<long double>(cut) == value || std::isnan(value)) return RoundToOdd(cut);
  if (std::abs(static_cast<long double>(cut)) > std::abs(value)) cut = std::nextafter(cut, 0.0);
  return RoundToOdd(std::bit_cast<double>(std::bit_cast<uint64_t>(cut) | 1));
}

template <std::integral Int>
float RoundToOdd(Int value) {
  if constexpr (sizeof(Int) == 8) {
    // Eleven low bits become one, and the rest fits a double.
    constexpr Int kLow = (Int{1} << 11) - 1;
    const bool large = value > Int{1} << 53 || (std::is_signed_v<Int> && value < -(Int{1} << 53));
    if (large) value = (value & ~kLow) | ((value & kLow) != 0 ? kLow + 1 : 0);
  }
  return RoundToOdd(static_cast<double>(value));
}

// Toward zero, as C converts; what does not fit becomes the nearest that does, NaN zero.
template <std::integral Int>
Int ToInteger(float value) {
  if (std::isnan(value)) return 0;
  const float low = static_cast<float>(std::numeric_limits<Int>::min());
  const float high = static_cast<float>(std::numeric_limits<Int>::max());  // may be one too large
  if (value >= high) return std::numeric_limits<Int>::max();
  if (value <= low) return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

}  // namespace wt::nki::numpy
