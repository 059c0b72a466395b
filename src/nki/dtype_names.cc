#include "nki/dtype_names.h"

#include <array>

namespace wt::nki {
namespace {

// By the order of DType.
constexpr std::array<const char*, kNumDTypes> kNames = {
    "float32",        "bfloat16",         "float16",        "int32",           "int64",
    "uint8",          "uint16",           "int8",           "int16",           "uint32",
    "bool",           "tfloat32",         "float8_e4m3",    "float8_e4m3fn",   "float8_e5m2",
    "float8_e8m0fnu", "float8_e4m3fn_x4", "float8_e5m2_x4", "float4_e2m1fn_x4"};

}  // namespace

const char* DTypeLongName(DType dtype) { return kNames[static_cast<size_t>(dtype)]; }

std::optional<DType> DTypeByLongName(std::string_view name) {
  if (name == "bool_") return DType::kBool;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace wt::nki
