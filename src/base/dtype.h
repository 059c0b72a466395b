// Element types and their exact conversions: round to nearest even, as the chip and PyTorch do.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/status.h"

namespace wt {

enum class DType : uint8_t {
  kF32,
  kBF16,
  kF16,
  kI32,
  kI64,
  kU8,
  kU16,
  kI8,
  kI16,
  kU32,
  kBool,      // one byte, 0 or 1
  kTF32,      // stored as a float32 whose low 13 mantissa bits are zero
  kF8E4M3,    // 4 exponent bits with infinities: largest finite value 240
  kF8E4M3FN,  // the OCP kind: no infinities, largest finite value 448
  kF8E5M2,    // largest finite value 57344
  kF8E8M0,    // a power of two: the scale of a block
  kF8E4M3FNx4,
  kF8E5M2x4,
  kF4E2M1FNx4,  // packed by four
};
inline constexpr int kNumDTypes = 19;

int64_t DTypeBytes(DType dtype);
const char* DTypeName(DType dtype);  // "f32", "bf16", …
Result<DType> ParseDType(std::string_view name);
bool IsInteger(DType dtype);  // kBool too
bool IsFloat(DType dtype);    // not the packed kinds

// bfloat16: the high half of a float32.
struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(float value) : bits(Round(value)) {}
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

 private:
  static uint16_t Round(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    if ((x & 0x7fffffffu) > 0x7f800000u)
      return static_cast<uint16_t>((x >> 16) | 0x40);  // quiet NaN
    return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1)) >> 16);
  }
};
static_assert(sizeof(BF16) == 2);

// IEEE binary16.
struct F16 {
  uint16_t bits = 0;
  F16() = default;
  explicit F16(float value);
  operator float() const;
};
static_assert(sizeof(F16) == 2);

// A float32 with the 10 mantissa bits of TF32.
float RoundToTF32(float value);

// The 8-bit kinds, by their bits. Values beyond the largest finite one become infinity where the
// kind has it, else NaN, as ml_dtypes does.
float DecodeF8E4M3(uint8_t bits);
float DecodeF8E4M3FN(uint8_t bits);
float DecodeF8E5M2(uint8_t bits);
float DecodeF8E8M0(uint8_t bits);
uint8_t EncodeF8E4M3(float value);
uint8_t EncodeF8E4M3FN(float value);
uint8_t EncodeF8E5M2(float value);
uint8_t EncodeF8E8M0(float value);  // the nearest power of two, in the exponent; NaN when negative

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<BF16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<F16> {
  static constexpr DType value = DType::kF16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::kU16;
};

}  // namespace wt
