// AdamW, averages of weights, and the sum that gradient norms are made of.
#include "tensor/adamw.h"

#include <cmath>

#include "tensor/pointwise.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/adamw.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

void Step(int64_t begin, int64_t end, const AdamWOptions& o, const float* grad, float* p, float* m,
          float* v) {
  const double t = static_cast<double>(o.step);
  const double bias1 = 1 - std::pow(static_cast<double>(o.beta1), t);
  const double bias2 = 1 - std::pow(static_cast<double>(o.beta2), t);
  const VF keep = Const(1 - o.lr * o.weight_decay), step = Const(static_cast<float>(o.lr / bias1));
  const VF root_bias2 = Const(static_cast<float>(1 / std::sqrt(bias2))), eps = Const(o.eps);
  const VF take1 = Const(1 - o.beta1), take2 = Const(1 - o.beta2), scale = Const(o.grad_scale);
  ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
    const VF g = hn::Mul(Get(grad + i, part), scale);
    const VF m0 = Get(m + i, part), v0 = Get(v + i, part);
    const VF m1 = hn::MulAdd(hn::Sub(g, m0), take1, m0);
    const VF v1 = hn::MulAdd(hn::Sub(hn::Mul(g, g), v0), take2, v0);
    const VF root = hn::MulAdd(hn::Sqrt(v1), root_bias2, eps);
    const VF kept = hn::Mul(Get(p + i, part), keep);
    Put(m1, m + i, part);
    Put(v1, v + i, part);
    Put(hn::NegMulAdd(step, hn::Div(m1, root), kept), p + i, part);
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Step);

void AdamWStep(int64_t n, const AdamWOptions& options, const float* grad, float* p, float* m,
               float* v) {
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Step)(begin, end, options, grad, p, m, v);
  });
}

void EmaUpdate(int64_t n, float decay, const float* p, float* ema) {
  Blend(n, 1 - decay, ema, p, ema);
}

void Blend(int64_t n, float alpha, const float* a, const float* b, float* out) {
  LinearCombine(n, 1 - alpha, {a, DType::kF32}, alpha, {b, DType::kF32}, {out, DType::kF32});
}

double SumOfSquares(int64_t n, ConstArray x) { return Dot(n, x, x); }

}  // namespace wt::tensor
#endif
