#include "base/dtype.h"

#include <array>

namespace wt {
namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  int64_t bytes;
};
constexpr std::array<DTypeRow, kNumDTypes> kDTypes = {{{DType::kF32, "f32", 4},
                                                       {DType::kBF16, "bf16", 2},
                                                       {DType::kF16, "f16", 2},
                                                       {DType::kI32, "i32", 4},
                                                       {DType::kI64, "i64", 8},
                                                       {DType::kU8, "u8", 1},
                                                       {DType::kU16, "u16", 2},
                                                       {DType::kI8, "i8", 1},
                                                       {DType::kI16, "i16", 2},
                                                       {DType::kU32, "u32", 4},
                                                       {DType::kBool, "bool", 1},
                                                       {DType::kTF32, "tf32", 4},
                                                       {DType::kF8E4M3, "f8e4m3", 1},
                                                       {DType::kF8E4M3FN, "f8e4m3fn", 1},
                                                       {DType::kF8E5M2, "f8e5m2", 1},
                                                       {DType::kF8E8M0, "f8e8m0", 1},
                                                       {DType::kF8E4M3FNx4, "f8e4m3fn_x4", 4},
                                                       {DType::kF8E5M2x4, "f8e5m2_x4", 4},
                                                       {DType::kF4E2M1FNx4, "f4e2m1fn_x4", 2}}};

const DTypeRow& Row(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

// Shifts right by `shift` bits, rounding to nearest, ties to even.
uint32_t RoundingShift(uint32_t value, int shift) {
  const uint32_t half = 1u << (shift - 1);
  const uint32_t odd = (value >> shift) & 1;
  return (value + half - 1 + odd) >> shift;
}

}  // namespace

int64_t DTypeBytes(DType dtype) { return Row(dtype).bytes; }
const char* DTypeName(DType dtype) { return Row(dtype).name; }

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kBool:
      return true;
    default:
      return false;
  }
}

bool IsFloat(DType dtype) { return !IsInteger(dtype) && dtype < DType::kF8E4M3FNx4; }

Result<DType> ParseDType(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (name == row.name) return row.dtype;
  }
  return Error(Code::kInvalidArgument,
               "element type '{}' is not known; expected f32, bf16, f16, i32, i64, u8 or u16",
               name);
}

F16::F16(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((x >> 16) & 0x8000);
  const uint32_t magnitude = x & 0x7fffffffu;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (magnitude > 0x7f800000u) {
    bits = sign | 0x7e00;  // NaN
  } else if (exponent > 15) {
    bits = sign | 0x7c00;  // overflow and infinity
  } else if (exponent >= -14) {
    // A carry out of the mantissa moves into the exponent, which is the right neighbour.
    bits = static_cast<uint16_t>(sign | RoundingShift(magnitude - ((127u - 15u) << 23), 13));
  } else if (exponent >= -25) {
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    bits = static_cast<uint16_t>(sign | RoundingShift(mantissa, -1 - exponent));
  } else {
    bits = sign;
  }
}

F16::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float subnormal = std::ldexp(static_cast<float>(mantissa), -24);
  return sign ? -subnormal : subnormal;
}

}  // namespace wt
