// Rows of logits for each instruction set.
#include "tensor/softmax.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/softmax.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

HWY_INLINE VF Cap(VF z, VF cap, VF inverse) { return hn::Mul(cap, Tanh(hn::Mul(z, inverse))); }

void CapRow(int64_t n, float cap, float* z) {
  const VF c = Const(cap), inverse = Const(1.0f / cap);
  ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
    Put(Cap(Get(z + i, part), c, inverse), z + i, part);
  });
}

float MaxOf(int64_t n, const float* z) {
  VF top = Const(z[0]);
  const int64_t whole = n / Width() * Width();
  ForEachVector(0, whole,
                [&](int64_t i, auto part) HWY_ATTR { top = hn::Max(top, Get(z + i, part)); });
  float max = hn::GetLane(hn::MaxOfLanes(kF32Tag, top));
  for (int64_t i = whole; i < n; ++i) max = z[i] > max ? z[i] : max;
  return max;
}

// Lanes of the last vector beyond the row must add nothing.
HWY_INLINE VF Keep(VF v, Whole) { return v; }
HWY_INLINE VF Keep(VF v, Part part) {
  return hn::IfThenElseZero(hn::FirstN(kF32Tag, static_cast<size_t>(part.n)), v);
}

float SumOfExp(int64_t n, float shift, const float* z) {
  return SumOver(0, n, [&](int64_t i, auto part) HWY_ATTR {
    return Keep(Exp(hn::Sub(Get(z + i, part), Const(shift))), part);
  });
}

float CapAndSumOfExp(int64_t n, float cap, float* z) {
  const VF c = Const(cap), inverse = Const(1.0f / cap);
  return SumOver(0, n, [&](int64_t i, auto part) HWY_ATTR {
    const VF logit = Cap(Get(z + i, part), c, inverse);
    Put(logit, z + i, part);
    return Keep(Exp(logit), part);
  });
}

float LogSumExp(int64_t n, float cap, float* z) {
  // With |logits| <= cap, exp cannot overflow and needs no shift.
  constexpr float kSafeCap = 64.0f;
  if (cap > 0 && cap <= kSafeCap) return std::log(CapAndSumOfExp(n, cap, z));
  if (cap > 0) CapRow(n, cap, z);
  const float shift = MaxOf(n, z);
  return shift + std::log(SumOfExp(n, shift, z));
}

void Gradient(int64_t n, float cap, float log_sum_exp, float coef, const float* logits, Array out) {
  const VF lse = Const(log_sum_exp), k = Const(coef), one = Const(1.0f);
  const VF inverse = Const(cap > 0 ? 1.0f / cap : 0.0f);
  WithType(out.dtype, [&](auto* type) HWY_ATTR {
    auto* d = Data(out, type);
    ForEachVector(0, n, [&](int64_t i, auto part) HWY_ATTR {
      const VF logit = Get(logits + i, part), tanh = hn::Mul(logit, inverse);
      const VF p = hn::Mul(k, Exp(hn::Sub(logit, lse)));
      Put(hn::Mul(p, hn::NegMulAdd(tanh, tanh, one)), d + i, part);
    });
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(CapRow);
HWY_EXPORT(LogSumExp);
HWY_EXPORT(Gradient);

void SoftcapRow(int64_t n, float cap, float* z) { HWY_DYNAMIC_DISPATCH(CapRow)(n, cap, z); }

float SoftcapLogSumExp(int64_t n, float cap, float* z) {
  return HWY_DYNAMIC_DISPATCH(LogSumExp)(n, cap, z);
}

void SoftmaxGradient(int64_t n, float cap, float log_sum_exp, float coef, const float* logits,
                     Array out) {
  HWY_DYNAMIC_DISPATCH(Gradient)(n, cap, log_sum_exp, coef, logits, out);
}

}  // namespace wt::tensor
#endif
