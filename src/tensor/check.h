// Checks of element types that kernels make on entry.
#pragma once

#include <initializer_list>

#include "base/status.h"
#include "tensor/view.h"

namespace wt::tensor {

// Requires f32 or bf16 everywhere; empty arrays pass.
inline void CheckFloat(std::initializer_list<ConstArray> arrays) {
  for (const ConstArray& a : arrays) {
    WT_CHECK(!a || a.dtype == DType::kF32 || a.dtype == DType::kBF16,
             "given an array of {}, expected f32 or bf16", DTypeName(a.dtype));
  }
}

// The same, and one element type throughout.
inline void CheckOneType(std::initializer_list<ConstArray> arrays) {
  CheckFloat(arrays);
  const DType dtype = arrays.begin()->dtype;
  for (const ConstArray& a : arrays) {
    WT_CHECK(!a || a.dtype == dtype, "given arrays of {} and {}, expected one element type",
             DTypeName(dtype), DTypeName(a.dtype));
  }
}

}  // namespace wt::tensor
