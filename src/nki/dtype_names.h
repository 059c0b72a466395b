// Element types by the names Python knows them by: "float32", "bfloat16", "float8_e4m3fn", …
#pragma once

#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace wt::nki {

const char* DTypeLongName(DType dtype);
std::optional<DType> DTypeByLongName(std::string_view name);  // "bool" and "bool_" alike

}  // namespace wt::nki
