// What every vectorised kernel of this room shares: f32 arithmetic on f32 or bf16 memory, loops
// with a partial last vector, exp, tanh and sigmoid. Included once per target by
// hwy/foreach_target.h.
#if defined(WT_TENSOR_SIMD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WT_TENSOR_SIMD_INL_H
#undef WT_TENSOR_SIMD_INL_H
#else
#define WT_TENSOR_SIMD_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>

#include "tensor/view.h"

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;
inline constexpr F32 kF32Tag;
HWY_INLINE int64_t Width() { return static_cast<int64_t>(hn::Lanes(kF32Tag)); }

// How much of a vector a loop's step covers: all of it, or the first `n` lanes.
struct Whole {};
struct Part {
  int64_t n;
};

HWY_INLINE VF Get(const float* p, Whole) { return hn::LoadU(kF32Tag, p); }
HWY_INLINE VF Get(const BF16* p, Whole) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::RebindToUnsigned<F32> d32;
  const auto half = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p));
  return hn::BitCast(kF32Tag, hn::ShiftLeft<16>(hn::PromoteTo(d32, half)));
}
// Lanes beyond the part are zero.
template <class T>
HWY_INLINE VF Get(const T* p, Part part) {
  T padded[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(static_cast<void*>(padded), p, static_cast<size_t>(part.n) * sizeof(T));
  return Get(padded, Whole{});
}

HWY_INLINE void Put(VF v, float* p, Whole) { hn::StoreU(v, kF32Tag, p); }
// Rounds to nearest even; NaN stays (quiet) NaN, as BF16(float) does.
HWY_INLINE void Put(VF v, BF16* p, Whole) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::RebindToUnsigned<F32> d32;
  const hn::RebindToSigned<F32> di32;
  const auto bits = hn::BitCast(d32, v);
  const auto high = hn::ShiftRight<16>(bits);
  const auto even = hn::And(high, hn::Set(d32, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(even, hn::Set(d32, 0x7fff))));
  const auto quiet = hn::Or(high, hn::Set(d32, 0x40));
  const auto out = hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di32, out)), d16, reinterpret_cast<uint16_t*>(p));
}
template <class T>
HWY_INLINE void Put(VF v, T* p, Part part) {
  T padded[HWY_MAX_BYTES / sizeof(float)];
  Put(v, padded, Whole{});
  std::memcpy(static_cast<void*>(p), padded, static_cast<size_t>(part.n) * sizeof(T));
}

// step(i, Whole or Part) for i = begin, begin + Width(), … < end.
template <class Step>
HWY_INLINE void ForEachVector(int64_t begin, int64_t end, const Step& step) {
  int64_t i = begin;
  for (; i + Width() <= end; i += Width()) step(i, Whole{});
  if (i < end) step(i, Part{end - i});
}

// Sum over [begin, end) of what term(i, Whole or Part) gives; terms beyond a part must be zero.
template <class Term>
HWY_INLINE float SumOver(int64_t begin, int64_t end, const Term& term) {
  VF s0 = hn::Zero(kF32Tag), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = begin;
  const int64_t w = Width();
  for (; i + 4 * w <= end; i += 4 * w) {
    s0 = hn::Add(s0, term(i, Whole{}));
    s1 = hn::Add(s1, term(i + w, Whole{}));
    s2 = hn::Add(s2, term(i + 2 * w, Whole{}));
    s3 = hn::Add(s3, term(i + 3 * w, Whole{}));
  }
  for (; i + w <= end; i += w) s0 = hn::Add(s0, term(i, Whole{}));
  if (i < end) s1 = hn::Add(s1, term(i, Part{end - i}));
  return hn::GetLane(hn::SumOfLanes(kF32Tag, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

HWY_INLINE VF Const(float x) { return hn::Set(kF32Tag, x); }

// e^x to about 1 ulp; 0 or more below -87, finite up to 88.
HWY_INLINE VF Exp(VF x) {
  x = hn::Min(hn::Max(x, Const(-87.0f)), Const(88.0f));
  // x = q ln 2 + r with |r| <= ln(2) / 2, ln 2 in two parts so that r is exact to fp32.
  const VF q = hn::Round(hn::Mul(x, Const(1.44269504f)));
  VF r = hn::NegMulAdd(q, Const(0.693145752f), x);
  r = hn::NegMulAdd(q, Const(1.42860677e-6f), r);
  // e^r = 1 + r + r^2 p(r), p fitted to 3e-9.
  VF p = hn::MulAdd(r, Const(1.38146104e-3f), Const(8.36871099e-3f));
  p = hn::MulAdd(p, r, Const(4.16683890e-2f));
  p = hn::MulAdd(p, r, Const(1.66665211e-1f));
  p = hn::MulAdd(p, r, Const(4.99999940e-1f));
  const VF e = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), Const(1.0f));
  const hn::RebindToSigned<F32> di;
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, q));
  return hn::BitCast(kF32Tag, hn::Add(hn::BitCast(di, e), exponent));
}

// tanh(x) to about 2 ulp: a rational in x^2 fitted on [-9, 9], beyond which tanh is 1 in fp32.
HWY_INLINE VF Tanh(VF x) {
  x = hn::Min(hn::Max(x, Const(-9.0f)), Const(9.0f));
  const VF t = hn::Mul(x, x);
  VF p = hn::MulAdd(t, Const(1.33547141e-8f), Const(2.06091237e-5f));
  p = hn::MulAdd(p, t, Const(3.49559076e-3f));
  p = hn::MulAdd(p, t, Const(1.33810278e-1f));
  p = hn::MulAdd(p, t, Const(1.0f));
  VF q = hn::MulAdd(t, Const(7.77658090e-7f), Const(3.28563905e-4f));
  q = hn::MulAdd(q, t, Const(2.58769923e-2f));
  q = hn::MulAdd(q, t, Const(4.67143435e-1f));
  q = hn::MulAdd(q, t, Const(1.0f));
  return hn::Div(hn::Mul(x, p), q);
}

HWY_INLINE VF Sigmoid(VF x) {
  const VF one = Const(1.0f);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(x))));
}

// Phi(x), the normal distribution function, to 1e-7: erfc by formula 7.1.26 of Abramowitz and
// Stegun's handbook. `density` gets exp(-x^2 / 2).
HWY_INLINE VF NormalCdf(VF x, VF* density) {
  const VF a = hn::Mul(hn::Abs(x), Const(0.707106781f));
  const VF one = Const(1.0f);
  const VF t = hn::Div(one, hn::MulAdd(a, Const(0.3275911f), one));
  VF p = hn::MulAdd(t, Const(1.061405429f), Const(-1.453152027f));
  p = hn::MulAdd(p, t, Const(1.421413741f));
  p = hn::MulAdd(p, t, Const(-0.284496736f));
  p = hn::MulAdd(p, t, Const(0.254829592f));
  *density = Exp(hn::Neg(hn::Mul(a, a)));
  const VF tail = hn::Mul(hn::Mul(Const(0.5f), hn::Mul(p, t)), *density);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(kF32Tag)), tail, hn::Sub(one, tail));
}

// fn(T*) with T the element type of `dtype`, which must be f32 or bf16.
template <class Fn>
HWY_INLINE void WithType(DType dtype, const Fn& fn) {
  if (dtype == DType::kBF16) {
    fn(static_cast<BF16*>(nullptr));
  } else {
    fn(static_cast<float*>(nullptr));
  }
}
template <class T>
HWY_INLINE const T* Data(ConstArray a, T*) {
  return static_cast<const T*>(a.data);
}
template <class T>
HWY_INLINE T* Data(Array a, T*) {
  return static_cast<T*>(a.data);
}

}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
