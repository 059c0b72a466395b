// The element-wise halves of attention for each instruction set.
#include "tensor/attention_rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/attention_rows.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

// 2^x, relative error 1e-7; 0 below the normal numbers. Requires x < 128.
HWY_INLINE VF Exp2(VF x) {
  const hn::RebindToSigned<F32> di;
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  const VF shifted = hn::Add(x, Const(12582912.0f));
  const VF f = hn::Sub(x, hn::Sub(shifted, Const(12582912.0f)));
  // Least largest relative error on [-1/2, 1/2].
  VF p = hn::MulAdd(Const(1.5345811e-4f), f, Const(1.3399931e-3f));
  p = hn::MulAdd(p, f, Const(9.6184891e-3f));
  p = hn::MulAdd(p, f, Const(5.5503286e-2f));
  p = hn::MulAdd(p, f, Const(2.4022646e-1f));
  p = hn::MulAdd(p, f, Const(6.9314718e-1f));
  p = hn::MulAdd(p, f, Const(1.0f));
  // p is in [0.7, 1.42]: adding n to its exponent multiplies by 2^n.
  const auto power = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenElseZero(hn::Ge(x, Const(-125.0f)), hn::BitCast(kF32Tag, power));
}

void ScaleBy(float scale, int64_t n, float* row) {
  ForEachVector(0, n, [&](int64_t j, auto part) HWY_ATTR {
    Put(hn::Mul(Get(row + j, part), Const(scale)), row + j, part);
  });
}

// Two running values each, so that one vector need not wait for the last.
float RowMax(int64_t n, const float* row) {
  VF a = Get(row, Whole{}), b = a;
  int64_t j = Width();
  for (; j + Width() < n; j += 2 * Width()) {
    a = hn::Max(a, Get(row + j, Whole{}));
    b = hn::Max(b, Get(row + j + Width(), Whole{}));
  }
  if (j < n) a = hn::Max(a, Get(row + j, Whole{}));
  return hn::GetLane(hn::MaxOfLanes(kF32Tag, hn::Max(a, b)));
}

// exp2(scale * x - shift) in place; returns the sum.
float ExpRow(float scale, float shift, int64_t n, float* row) {
  VF sum0 = Const(0.0f), sum1 = sum0;
  const auto step = [&](int64_t j, VF& sum) HWY_ATTR {
    const VF p = Exp2(hn::MulSub(Get(row + j, Whole{}), Const(scale), Const(shift)));
    Put(p, row + j, Whole{});
    sum = hn::Add(sum, p);
  };
  int64_t j = 0;
  for (; j + Width() < n; j += 2 * Width()) {
    step(j, sum0);
    step(j + Width(), sum1);
  }
  if (j < n) step(j, sum0);
  return hn::GetLane(hn::SumOfLanes(kF32Tag, hn::Add(sum0, sum1)));
}

void SoftmaxRows(float scale_log2, int64_t rows, int64_t cols, float* scores, float* row_max,
                 float* row_sum, float* out, int64_t head_dim) {
  for (int64_t i = 0; i < rows; ++i) {
    float* row = scores + i * kAttentionBlock;
    const float most = RowMax(cols, row) * scale_log2;
    if (most > row_max[i]) {
      const float shrink = std::exp2(row_max[i] - most);
      row_max[i] = most;
      row_sum[i] *= shrink;
      ScaleBy(shrink, head_dim, out + i * head_dim);
    }
    row_sum[i] += ExpRow(scale_log2, row_max[i], cols, row);
  }
}

void SoftmaxGrads(float scale_log2, int64_t rows, int64_t cols, const float* lse_log2,
                  const float* delta, float* probs, float* grads) {
  for (int64_t i = 0; i < rows; ++i) {
    float* p_row = probs + i * kAttentionBlock;
    float* g_row = grads + i * kAttentionBlock;
    for (int64_t j = 0; j < cols; j += Width()) {
      const VF score = Get(p_row + j, Whole{}), shift = Get(lse_log2 + j, Whole{});
      const VF p = Exp2(hn::MulSub(score, Const(scale_log2), shift));
      const VF g = hn::Sub(Get(g_row + j, Whole{}), Get(delta + j, Whole{}));
      Put(p, p_row + j, Whole{});
      Put(hn::Mul(p, g), g_row + j, Whole{});
    }
  }
}

void Dots(const ConstMatrix& a, const ConstMatrix& b, float* dots) {
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto *x = Data(ConstArray{a.data, a.dtype}, type),
               *y = Data(ConstArray{b.data, b.dtype}, type);
    for (int64_t i = 0; i < a.rows; ++i, x += a.row_stride, y += b.row_stride) {
      dots[i] = SumOver(0, a.cols, [&](int64_t j, auto part) HWY_ATTR {
        return hn::Mul(Get(x + j, part), Get(y + j, part));
      });
    }
  });
}

void StoreRows(const float* from, int64_t ld, const float* row_scale, float scale,
               const Matrix& to) {
  WithType(to.dtype, [&](auto* type) HWY_ATTR {
    for (int64_t i = 0; i < to.rows; ++i) {
      const float s = row_scale != nullptr ? row_scale[i] : scale;
      const float* x = from + i * ld;
      auto* y = Data(Array{to.data, to.dtype}, type) + i * to.row_stride;
      ForEachVector(0, to.cols, [&](int64_t j, auto part) HWY_ATTR {
        Put(hn::Mul(Get(x + j, part), Const(s)), y + j, part);
      });
    }
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(SoftmaxGrads);
HWY_EXPORT(Dots);
HWY_EXPORT(StoreRows);

void SoftmaxBlock(float scale_log2, int64_t rows, int64_t cols, float* scores, float* row_max,
                  float* row_sum, float* out, int64_t head_dim) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRows)
  (scale_log2, rows, cols, scores, row_max, row_sum, out, head_dim);
}
void SoftmaxGradBlock(float scale_log2, int64_t rows, int64_t cols, const float* lse_log2,
                      const float* delta, float* probs, float* grads) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGrads)(scale_log2, rows, cols, lse_log2, delta, probs, grads);
}
void RowDots(const ConstMatrix& a, const ConstMatrix& b, float* dots) {
  HWY_DYNAMIC_DISPATCH(Dots)(a, b, dots);
}
void StoreScaled(const float* from, int64_t ld, const float* row_scale, float scale,
                 const Matrix& to) {
  HWY_DYNAMIC_DISPATCH(StoreRows)(from, ld, row_scale, scale, to);
}

}  // namespace wt::tensor
#endif
