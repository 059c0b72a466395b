// The 8-bit float kinds and TF32.
#include <algorithm>

#include "base/dtype.h"

namespace wt {
namespace {

// An 8-bit kind: sign, exponent, mantissa; whether the highest exponent holds infinity and NaN as
// in IEEE 754, or numbers with one NaN (all ones).
struct Kind {
  int exponent_bits, mantissa_bits;
  bool ieee;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t highest() const { return (1u << exponent_bits) - 1; }
};
constexpr Kind kE4M3{4, 3, true}, kE4M3FN{4, 3, false}, kE5M2{5, 2, true};

float Decode(Kind kind, uint8_t bits) {
  const uint32_t mantissa = bits & ((1u << kind.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> kind.mantissa_bits) & kind.highest();
  const uint32_t all_ones = (1u << kind.mantissa_bits) - 1;
  float value;
  if (kind.ieee && exponent == kind.highest()) {
    value = mantissa ? std::nanf("") : INFINITY;
  } else if (!kind.ieee && exponent == kind.highest() && mantissa == all_ones) {
    value = std::nanf("");
  } else if (exponent == 0) {
    value = std::ldexp(float(mantissa), 1 - kind.bias() - kind.mantissa_bits);
  } else {
    value = std::ldexp(float(mantissa | (1u << kind.mantissa_bits)),
                       int(exponent) - kind.bias() - kind.mantissa_bits);
  }
  return bits & 0x80 ? -value : value;
}

uint8_t Encode(Kind kind, float value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const uint32_t infinity = kind.ieee ? kind.highest() << kind.mantissa_bits : 0x7f;
  if (std::isnan(value))
    return sign | (kind.ieee ? uint8_t(infinity | 1u << (kind.mantissa_bits - 1)) : 0x7f);
  if (std::isinf(value)) return sign | uint8_t(infinity);
  const float magnitude = std::fabs(value);
  // Count in units of the last place: of the value's binade, or of the subnormals.
  const int exponent =
      magnitude == 0 ? 1 - kind.bias() : std::max(std::ilogb(magnitude), 1 - kind.bias());
  const float units = std::nearbyint(std::ldexp(magnitude, kind.mantissa_bits - exponent));
  // With the hidden bit added to the exponent field, a carry lands where it should.
  const uint32_t bits =
      uint32_t(exponent + kind.bias() - 1) * (1u << kind.mantissa_bits) + uint32_t(units);
  return sign | uint8_t(bits > infinity ? infinity : bits);
}

}  // namespace

float DecodeF8E4M3(uint8_t bits) { return Decode(kE4M3, bits); }
float DecodeF8E4M3FN(uint8_t bits) { return Decode(kE4M3FN, bits); }
float DecodeF8E5M2(uint8_t bits) { return Decode(kE5M2, bits); }
uint8_t EncodeF8E4M3(float value) { return Encode(kE4M3, value); }
uint8_t EncodeF8E4M3FN(float value) { return Encode(kE4M3FN, value); }
uint8_t EncodeF8E5M2(float value) { return Encode(kE5M2, value); }

float DecodeF8E8M0(uint8_t bits) {
  return bits == 0xff ? std::nanf("") : std::ldexp(1.0f, int(bits) - 127);
}

uint8_t EncodeF8E8M0(float value) {
  if (std::isnan(value) || std::isinf(value) || std::signbit(value)) return 0xff;
  if (value < 0x1p-127f) return 0;
  const int exponent = std::ilogb(value);
  const float mantissa = std::ldexp(value, -exponent);  // [1, 2)
  const bool up = mantissa > 1.5f || (mantissa == 1.5f && (exponent + 127) % 2 == 1);
  return uint8_t(exponent + 127 + up);
}

float RoundToTF32(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  if ((x & 0x7f800000u) == 0x7f800000u) return value;  // infinity and NaN
  return std::bit_cast<float>((x + 0xfffu + ((x >> 13) & 1)) & ~0x1fffu);
}

}  // namespace wt
