// How each element type is read and written, as branch-free functions that vectorise: what
// convert.cc and the rows are made of. base/dtype.h has the plain twins of the 8- and 16-bit
// floats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"
#include "chip/clones.h"

namespace wt::chip {

WT_INLINE uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }
WT_INLINE float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

struct F32Codec {
  using Storage = float;
  static WT_INLINE float ToFloat(float value) { return value; }
  static WT_INLINE float FromFloat(float value) { return value; }
};

struct TF32Codec {
  using Storage = float;
  static WT_INLINE float ToFloat(float value) { return value; }
  static WT_INLINE float FromFloat(float value) {
    const uint32_t x = BitsOf(value);
    const uint32_t rounded = (x + 0xfffu + ((x >> 13) & 1)) & ~0x1fffu;
    return FloatOf((x & 0x7f800000u) == 0x7f800000u ? x : rounded);
  }
};

struct BF16Codec {
  using Storage = uint16_t;
  static WT_INLINE float ToFloat(uint16_t bits) { return FloatOf(uint32_t{bits} << 16); }
  static WT_INLINE uint16_t FromFloat(float value) {
    const uint32_t x = BitsOf(value);
    const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1)) >> 16;
    const uint32_t nan = (x >> 16) | 0x40;
    return static_cast<uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
};

// A float of `kExponent` and `kMantissa` bits in 8 or 16. With kIeee its highest exponent holds
// infinity and NaN; otherwise numbers, and NaN where all bits are ones.
template <class S, int kExponent, int kMantissa, bool kIeee>
struct SmallFloatCodec {
  using Storage = S;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kShift = 23 - kMantissa;
  static constexpr uint32_t kMagnitude = (1u << (kExponent + kMantissa)) - 1;
  static constexpr uint32_t kSign = kMagnitude + 1;
  static constexpr uint32_t kTop = ((1u << kExponent) - 1) << kMantissa;  // highest exponent
  // What overflow becomes, and the bits of NaN.
  static constexpr uint32_t kOverflow = kIeee ? kTop : kMagnitude;
  static constexpr uint32_t kNaN = kIeee ? kTop | 1u << (kMantissa - 1) : kMagnitude;
  static constexpr float kScale = std::bit_cast<float>(uint32_t(127 + 127 - kBias) << 23);
  static constexpr float kLeastNormal = std::bit_cast<float>(uint32_t(128 - kBias) << 23);
  // Adding it leaves a subnormal's units in the low bits.
  static constexpr float kUnits =
      std::bit_cast<float>(uint32_t(127 + 24 - kBias - kMantissa) << 23);

  static WT_INLINE float ToFloat(S bits) {
    const uint32_t magnitude = bits & kMagnitude;
    const uint32_t scaled = BitsOf(FloatOf(magnitude << kShift) * kScale);
    const uint32_t special = magnitude << kShift | 0x7f800000u;
    const bool is_special = kIeee ? magnitude >= kTop : magnitude == kMagnitude;
    return FloatOf((is_special ? special : scaled) | uint32_t(bits & kSign)
                                                         << (31 - kExponent - kMantissa));
  }
  static WT_INLINE S FromFloat(float value) {
    const uint32_t x = BitsOf(value);
    const uint32_t magnitude = x & 0x7fffffffu;
    const uint32_t rebased = magnitude - (uint32_t(127 - kBias) << 23);
    const uint32_t normal =
        (rebased + (1u << (kShift - 1)) - 1 + ((rebased >> kShift) & 1)) >> kShift;
    const uint32_t subnormal = BitsOf(FloatOf(magnitude) + kUnits) - BitsOf(kUnits);
    const uint32_t finite = FloatOf(magnitude) < kLeastNormal ? subnormal : normal;
    const bool overflows = finite > kOverflow || magnitude >= 0x7f800000u;
    uint32_t result = overflows ? kOverflow : finite;
    result = magnitude > 0x7f800000u ? kNaN : result;
    return static_cast<S>(result | (x >> 31) << (kExponent + kMantissa));
  }
};
using F16Codec = SmallFloatCodec<uint16_t, 5, 10, true>;
using F8E4M3Codec = SmallFloatCodec<uint8_t, 4, 3, true>;
using F8E4M3FNCodec = SmallFloatCodec<uint8_t, 4, 3, false>;
using F8E5M2Codec = SmallFloatCodec<uint8_t, 5, 2, true>;

struct F8E8M0Codec {
  using Storage = uint8_t;
  static WT_INLINE float ToFloat(uint8_t bits) { return DecodeF8E8M0(bits); }
  static WT_INLINE uint8_t FromFloat(float value) { return EncodeF8E8M0(value); }
};

// Floats to integers: to nearest even, saturating; NaN becomes 0, which no document promises.
template <class T>
struct IntCodec {
  using Storage = T;
  static constexpr bool kWide = sizeof(T) >= 4;  // limits are not exact in fp32
  static WT_INLINE float ToFloat(T value) { return static_cast<float>(value); }
  static WT_INLINE T FromFloat(float value) {
    constexpr T kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    // The least float too large for T; a power of two.
    constexpr float kLimit = static_cast<float>(kHigh / 2 + 1) * 2.0f;
    const float rounded = std::nearbyint(value);
    const bool high = rounded >= kLimit, low = rounded <= static_cast<float>(kLow);
    const float inside = high || low || rounded != rounded ? 0.0f : rounded;
    T result = static_cast<T>(inside);
    result = high ? kHigh : result;
    return low ? kLow : result;
  }
};

struct BoolCodec {
  using Storage = uint8_t;
  static WT_INLINE float ToFloat(uint8_t value) { return value != 0 ? 1.0f : 0.0f; }
  static WT_INLINE uint8_t FromFloat(float value) { return value != 0; }
};

// Steps that kernels use are constants for the compiler, which then shuffles instead of gathering.
template <class Fn>
WT_INLINE void WithStep(int64_t step, const Fn& fn) {
  if (step == 1) return fn(std::integral_constant<int64_t, 1>());
  if (step == 2) return fn(std::integral_constant<int64_t, 2>());
  return fn(step);
}

// Calls fn with the codec of `dtype`; packed kinds as the integers that hold them.
template <class Fn>
WT_INLINE void WithCodec(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kF32:
      return fn(F32Codec());
    case DType::kTF32:
      return fn(TF32Codec());
    case DType::kBF16:
      return fn(BF16Codec());
    case DType::kF16:
      return fn(F16Codec());
    case DType::kF8E4M3:
      return fn(F8E4M3Codec());
    case DType::kF8E4M3FN:
      return fn(F8E4M3FNCodec());
    case DType::kF8E5M2:
      return fn(F8E5M2Codec());
    case DType::kF8E8M0:
      return fn(F8E8M0Codec());
    case DType::kI8:
      return fn(IntCodec<int8_t>());
    case DType::kI16:
      return fn(IntCodec<int16_t>());
    case DType::kI32:
      return fn(IntCodec<int32_t>());
    case DType::kI64:
      return fn(IntCodec<int64_t>());
    case DType::kU8:
      return fn(IntCodec<uint8_t>());
    case DType::kU16:
    case DType::kF4E2M1FNx4:
      return fn(IntCodec<uint16_t>());
    case DType::kU32:
    case DType::kF8E4M3FNx4:
    case DType::kF8E5M2x4:
      return fn(IntCodec<uint32_t>());
    case DType::kBool:
      return fn(BoolCodec());
  }
}

}  // namespace wt::chip
