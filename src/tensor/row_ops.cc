// The single-row kernels for each instruction set.
#include "tensor/row_ops.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/row_ops.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

void Copy(int64_t n, ConstArray src, Array out) {
  WithType(src.dtype, [&](auto* in_type) HWY_ATTR {
    WithType(out.dtype, [&](auto* out_type) HWY_ATTR {
      const auto* x = Data(src, in_type);
      auto* y = Data(out, out_type);
      ForEachVector(0, n,
                    [&](int64_t i, auto part) HWY_ATTR { Put(Get(x + i, part), y + i, part); });
    });
  });
}

void AddScaled(int64_t n, ConstArray a, float s, ConstArray b, Array out) {
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto *x = Data(a, type), *y = Data(b, type);
    auto* z = Data(out, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::MulAdd(Get(y + i, part), Const(s), Get(x + i, part)), z + i, part);
    });
  });
}

void ScaleRow(int64_t n, float s, ConstArray a, Array out) {
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto* x = Data(a, type);
    auto* y = Data(out, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::Mul(Get(x + i, part), Const(s)), y + i, part);
    });
  });
}

void Accumulate(int64_t n, ConstArray a, float* acc) {
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto* x = Data(a, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::Add(Get(acc + i, part), Get(x + i, part)), acc + i, part);
    });
  });
}

void MulAccumulate(int64_t n, ConstArray a, ConstArray b, float* acc) {
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto *x = Data(a, type), *y = Data(b, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::MulAdd(Get(x + i, part), Get(y + i, part), Get(acc + i, part)), acc + i, part);
    });
  });
}

float DotRow(int64_t n, ConstArray a, ConstArray b) {
  float sum = 0;
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto *x = Data(a, type), *y = Data(b, type);
    sum = SumOver(0, n, [&](int64_t i, auto part) HWY_ATTR {
      return hn::Mul(Get(x + i, part), Get(y + i, part));
    });
  });
  return sum;
}

void WeightedSum(int64_t n, int64_t taps, const float* w, ConstArray x, int64_t step, Array out) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    const auto* in = Data(x, type);
    auto* y = Data(out, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      VF sum = hn::Zero(kF32Tag);
      for (int64_t k = 0; k < taps; ++k) {
        sum = hn::MulAdd(Get(w + k * n + i, part), Get(in + k * step + i, part), sum);
      }
      Put(sum, y + i, part);
    });
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Copy);
HWY_EXPORT(AddScaled);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(Accumulate);
HWY_EXPORT(MulAccumulate);
HWY_EXPORT(DotRow);
HWY_EXPORT(WeightedSum);

float LoadElement(ConstArray a, int64_t i) {
  return a.dtype == DType::kBF16 ? static_cast<float>(static_cast<const BF16*>(a.data)[i])
                                 : static_cast<const float*>(a.data)[i];
}

void StoreElement(Array a, int64_t i, float value) {
  if (a.dtype == DType::kBF16) {
    static_cast<BF16*>(a.data)[i] = BF16(value);
  } else {
    static_cast<float*>(a.data)[i] = value;
  }
}

float SigmoidScalar(float x) { return 1.0f / (1.0f + std::exp(-x)); }

void RowCopy(int64_t n, ConstArray src, Array out) { HWY_DYNAMIC_DISPATCH(Copy)(n, src, out); }
void RowAddScaled(int64_t n, ConstArray a, float s, ConstArray b, Array out) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(n, a, s, b, out);
}
void RowScale(int64_t n, float s, ConstArray a, Array out) {
  HWY_DYNAMIC_DISPATCH(ScaleRow)(n, s, a, out);
}
void RowAccumulate(int64_t n, ConstArray a, float* acc) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(n, a, acc);
}
void RowMulAccumulate(int64_t n, ConstArray a, ConstArray b, float* acc) {
  HWY_DYNAMIC_DISPATCH(MulAccumulate)(n, a, b, acc);
}
float RowDot(int64_t n, ConstArray a, ConstArray b) {
  return HWY_DYNAMIC_DISPATCH(DotRow)(n, a, b);
}
void RowWeightedSum(int64_t n, int64_t taps, const float* w, ConstArray x, int64_t step,
                    Array out) {
  HWY_DYNAMIC_DISPATCH(WeightedSum)(n, taps, w, x, step, out);
}

}  // namespace wt::tensor
#endif
