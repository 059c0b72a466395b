// RMSNorm, one row at a time: a pass for the sums and a pass for the outputs, both in the L1 cache.
#include "tensor/norm.h"

#include <cmath>

#include "tensor/check.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/norm.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

template <class T>
float ReciprocalRms(int64_t cols, float eps, const T* x) {
  const float sum = SumOver(0, cols, [&](int64_t i, auto part) HWY_ATTR {
    const VF v = Get(x + i, part);
    return hn::Mul(v, v);
  });
  return 1.0f / std::sqrt(sum / static_cast<float>(cols) + eps);
}

template <class T>
void ForwardRow(int64_t cols, float eps, const T* x, T* y) {
  const VF rstd = Const(ReciprocalRms(cols, eps, x));
  ForEachVector(0, cols, [&](int64_t i, auto part) HWY_ATTR {
    Put(hn::Mul(Get(x + i, part), rstd), y + i, part);
  });
}

template <class T>
void BackwardRow(int64_t cols, float eps, const T* x, const T* dy, const T* addend, T* dx) {
  const float rstd = ReciprocalRms(cols, eps, x);
  const float dot = SumOver(0, cols, [&](int64_t i, auto part) HWY_ATTR {
    return hn::Mul(Get(x + i, part), Get(dy + i, part));
  });
  const VF scale = Const(rstd);
  const VF along = Const(rstd * rstd * rstd * dot / static_cast<float>(cols));
  ForEachVector(0, cols, [&](int64_t i, auto part) HWY_ATTR {
    VF v = hn::Mul(Get(dy + i, part), scale);
    v = hn::NegMulAdd(Get(x + i, part), along, v);
    if (addend != nullptr) v = hn::Add(v, Get(addend + i, part));
    Put(v, dx + i, part);
  });
}

void Forward(int64_t begin, int64_t end, int64_t cols, float eps, ConstArray x, Array y) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    for (int64_t r = begin; r < end; ++r) {
      ForwardRow(cols, eps, Data(x, type) + r * cols, Data(y, type) + r * cols);
    }
  });
}

void Backward(int64_t begin, int64_t end, int64_t cols, float eps, ConstArray x, ConstArray dy,
              ConstArray addend, Array dx) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    for (int64_t at = begin * cols; at < end * cols; at += cols) {
      BackwardRow(cols, eps, Data(x, type) + at, Data(dy, type) + at,
                  addend ? Data(addend, type) + at : nullptr, Data(dx, type) + at);
    }
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void RmsNormForward(int64_t rows, int64_t cols, float eps, ConstArray x, Array y) {
  CheckOneType({x, y});
  SplitRows(rows, cols, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Forward)(begin, end, cols, eps, x, y);
  });
}

void RmsNormBackward(int64_t rows, int64_t cols, float eps, ConstArray x, ConstArray dy,
                     ConstArray addend, Array dx) {
  CheckOneType({x, dy, addend, dx});
  SplitRows(rows, cols, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Backward)(begin, end, cols, eps, x, dy, addend, dx);
  });
}

}  // namespace wt::tensor
#endif
