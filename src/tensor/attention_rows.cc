#include "tensor/attention_rows.h"

#include <cmath>

// The instruction sets of block_gemm.h; others would only add to the program's size.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/attention_rows.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows are padded to whole vectors of at most 16 lanes.
using Floats = hn::CappedTag<float, 16>;
using F = hn::Vec<Floats>;

// 2^x, relative error 1e-7; 0 below the normal numbers. Requires x < 128.
HWY_INLINE F Exp2(Floats d, F x) {
  const hn::RebindToSigned<Floats> di;
  const auto normal = hn::Ge(x, hn::Set(d, -126.0f));
  const F clamped = hn::IfThenElseZero(normal, x);
  const auto n = hn::NearestInt(clamped);
  const F f = hn::Sub(clamped, hn::ConvertTo(d, n));
  // Least largest relative error on [-1/2, 1/2].
  F p = hn::Set(d, 1.5345811e-4f);
  p = hn::MulAdd(p, f, hn::Set(d, 1.3399931e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 9.6184891e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.5503286e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.4022646e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.9314718e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const F power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
  return hn::IfThenElseZero(normal, hn::Mul(p, power));
}

void ScaleRow(float scale, int64_t n, float* row) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + j), hn::Set(d, scale)), d, row + j);
  }
  for (; j < n; ++j) row[j] *= scale;
}

float RowMax(int64_t n, const float* row) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  F most = hn::LoadU(d, row);
  for (int64_t j = lanes; j < n; j += lanes) most = hn::Max(most, hn::LoadU(d, row + j));
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

// exp2(scale * x - shift) in place; returns the sum.
float ExpRow(float scale, float shift, int64_t n, float* row) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const F s = hn::Set(d, scale), m = hn::Set(d, shift);
  F sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const F p = Exp2(d, hn::MulSub(hn::LoadU(d, row + j), s, m));
    hn::StoreU(p, d, row + j);
    sum = hn::Add(sum, p);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void SoftmaxBlock(float scale_log2, int64_t rows, int64_t cols, float* scores, float* row_max,
                  float* row_sum, float* out, int64_t head_dim) {
  for (int64_t i = 0; i < rows; ++i) {
    float* row = scores + i * kAttentionBlock;
    const float most = RowMax(cols, row) * scale_log2;
    if (most > row_max[i]) {
      const float shrink = std::exp2(row_max[i] - most);
      row_max[i] = most;
      row_sum[i] *= shrink;
      ScaleRow(shrink, head_dim, out + i * head_dim);
    }
    row_sum[i] += ExpRow(scale_log2, row_max[i], cols, row);
  }
}

void SoftmaxGradBlock(float scale_log2, int64_t rows, int64_t cols, const float* lse_log2,
                      const float* delta, float* probs, float* grads) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const F scale = hn::Set(d, scale_log2);
  for (int64_t i = 0; i < rows; ++i) {
    float* p_row = probs + i * kAttentionBlock;
    float* g_row = grads + i * kAttentionBlock;
    for (int64_t j = 0; j < cols; j += lanes) {
      const F p = Exp2(d, hn::MulSub(hn::LoadU(d, p_row + j), scale, hn::LoadU(d, lse_log2 + j)));
      const F g = hn::Sub(hn::LoadU(d, g_row + j), hn::LoadU(d, delta + j));
      hn::StoreU(p, d, p_row + j);
      hn::StoreU(hn::Mul(p, g), d, g_row + j);
    }
  }
}

HWY_INLINE F LoadFloats(Floats d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE F LoadFloats(Floats d, const BF16* from) {
  const hn::Rebind<uint16_t, Floats> d16;
  const hn::Rebind<uint32_t, Floats> d32;
  const auto bits = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}

HWY_INLINE void StoreFloats(Floats d, F v, float* to) { hn::StoreU(v, d, to); }
// To nearest even; a NaN keeps its sign and becomes quiet.
HWY_INLINE void StoreFloats(Floats d, F v, BF16* to) {
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<uint32_t, Floats> d32;
  const hn::Rebind<uint16_t, Floats> d16;
  const auto bits = hn::BitCast(d32, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto is_nan = hn::MaskFromVec(hn::BitCast(d32, hn::VecFromMask(d, hn::IsNaN(v))));
  const auto high = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, high)), d16, reinterpret_cast<uint16_t*>(to));
}

template <class T>
float Dot(const T* a, const T* b, int64_t n) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  F sum = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    sum = hn::MulAdd(LoadFloats(d, a + j), LoadFloats(d, b + j), sum);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; j < n; ++j) total += static_cast<float>(a[j]) * static_cast<float>(b[j]);
  return total;
}

template <class T>
void DotsOf(const ConstMatrix& a, const ConstMatrix& b, float* dots) {
  for (int64_t i = 0; i < a.rows; ++i) {
    dots[i] = Dot(static_cast<const T*>(a.data) + i * a.row_stride,
                  static_cast<const T*>(b.data) + i * b.row_stride, a.cols);
  }
}
void RowDots(const ConstMatrix& a, const ConstMatrix& b, float* dots) {
  a.dtype == DType::kBF16 ? DotsOf<BF16>(a, b, dots) : DotsOf<float>(a, b, dots);
}

template <class T>
void StoreRow(const float* from, float scale, int64_t n, T* to) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    StoreFloats(d, hn::Mul(hn::LoadU(d, from + j), hn::Set(d, scale)), to + j);
  }
  for (; j < n; ++j) to[j] = T(from[j] * scale);
}
template <class T>
void StoreAs(const float* from, int64_t ld, const float* row_scale, float scale, const Matrix& to) {
  for (int64_t i = 0; i < to.rows; ++i) {
    StoreRow(from + i * ld, row_scale != nullptr ? row_scale[i] : scale, to.cols,
             static_cast<T*>(to.data) + i * to.row_stride);
  }
}
void StoreScaled(const float* from, int64_t ld, const float* row_scale, float scale,
                 const Matrix& to) {
  to.dtype == DType::kBF16 ? StoreAs<BF16>(from, ld, row_scale, scale, to)
                           : StoreAs<float>(from, ld, row_scale, scale, to);
}

}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(SoftmaxBlock);
HWY_EXPORT(SoftmaxGradBlock);
HWY_EXPORT(RowDots);
HWY_EXPORT(StoreScaled);

void SoftmaxBlock(float scale_log2, int64_t rows, int64_t cols, float* scores, float* row_max,
                  float* row_sum, float* out, int64_t head_dim) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBlock)
  (scale_log2, rows, cols, scores, row_max, row_sum, out, head_dim);
}
void SoftmaxGradBlock(float scale_log2, int64_t rows, int64_t cols, const float* lse_log2,
                      const float* delta, float* probs, float* grads) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGradBlock)(scale_log2, rows, cols, lse_log2, delta, probs, grads);
}
void RowDots(const ConstMatrix& a, const ConstMatrix& b, float* dots) {
  HWY_DYNAMIC_DISPATCH(RowDots)(a, b, dots);
}
void StoreScaled(const float* from, int64_t ld, const float* row_scale, float scale,
                 const Matrix& to) {
  HWY_DYNAMIC_DISPATCH(StoreScaled)(from, ld, row_scale, scale, to);
}

}  // namespace wt::tensor
#endif
