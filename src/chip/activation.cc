#include "chip/activation.h"

#include "chip/activation_math.h"

namespace wt::chip {
namespace {

// Functions that kernels rarely run, by way of double.
void ExactRow(Activation function, const float* in, float scale, float bias, float alpha,
              float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(ActivationExact(function, in[i] * scale + bias, alpha));
}

// Calls fn(function of one float); false when there is none.
template <class Fn>
WT_INLINE bool WithFunction(Activation function, float alpha, const Fn& fn) {
#define WT_FUNCTION(name, expression)                                              \
  case Activation::name:                                                           \
    fn([=](float x) __attribute__((always_inline))->float { return expression; }); \
    return true;
  switch (function) {
    WT_FUNCTION(kCopy, x)
    WT_FUNCTION(kIdentity, x)
    WT_FUNCTION(kSquare, x * x)
    WT_FUNCTION(kSqrt, std::sqrt(x))
    WT_FUNCTION(kRsqrt, 1.0f / std::sqrt(x))
    WT_FUNCTION(kReciprocal, 1.0f / x)
    WT_FUNCTION(kExp, math::Exp(x))
    WT_FUNCTION(kLog, math::Log(x))
    WT_FUNCTION(kSin, math::Sin(x))
    WT_FUNCTION(kArctan, math::Arctan(x))
    WT_FUNCTION(kTanh, math::Tanh(x))
    WT_FUNCTION(kSigmoid, math::Sigmoid(x))
    WT_FUNCTION(kRelu, x < 0 ? 0.0f : x)
    WT_FUNCTION(kPrelu, x < 0 ? alpha * x : x)
    WT_FUNCTION(kLeakyRelu, x < 0 ? 0.01f * x : x)
    WT_FUNCTION(kGelu, x * math::NormalCdf(x))
    WT_FUNCTION(kGeluDx, math::Fma(x, math::NormalPdf(x), math::NormalCdf(x)))
    WT_FUNCTION(kGeluApprxTanh, math::GeluTanh(x))
    WT_FUNCTION(kGeluApprxTanhDx, math::GeluTanhDx(x))
    WT_FUNCTION(kGeluApprxSigmoid, math::Swish(x, 1.702f))
    WT_FUNCTION(kGeluApprxSigmoidDx, math::SwishDx(x, 1.702f))
    WT_FUNCTION(kSilu, math::Swish(x, 1.0f))
    WT_FUNCTION(kSiluDx, math::SwishDx(x, 1.0f))
    WT_FUNCTION(kSoftplus, math::Softplus(x))
    WT_FUNCTION(kMish, math::Mish(x))
    WT_FUNCTION(kErf, math::Erf(x))
    WT_FUNCTION(kErfDx, 1.12837917f * math::ExpNegativeSquare(x))
    WT_FUNCTION(kAbs, std::fabs(x))
    WT_FUNCTION(kSign, x > 0 ? 1.0f : x < 0 ? -1.0f : x)
    WT_FUNCTION(kCeil, std::ceil(x))
    WT_FUNCTION(kFloor, std::floor(x))
    WT_FUNCTION(kTrunc, std::trunc(x))
    default:
      return false;
  }
#undef WT_FUNCTION
}

WT_CLONES bool FastRow(Activation function, const float* in, float scale, float bias, float alpha,
                       float* out, int64_t n) {
  return WithFunction(
      function, alpha, [=](auto f) __attribute__((always_inline)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(in[i] * scale + bias);
      });
}

WT_CLONES int64_t CountOutside(const float* in, float scale, float bias, float low, float high,
                               bool magnitude, int64_t n) {
  const uint32_t sign_mask = magnitude ? 0x7fffffffu : 0xffffffffu;
  int32_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float x = math::Float(math::Bits(in[i] * scale + bias) & sign_mask);
    outside += (x < low) | (x > high);
  }
  return outside;
}

}  // namespace

int64_t FirstOutside(const float* in, float scale, float bias, float low, float high,
                     bool magnitude, int64_t n) {
  if (CountOutside(in, scale, bias, low, high, magnitude, n) == 0) return n;
  int64_t i = 0;
  while (CountOutside(in + i, scale, bias, low, high, magnitude, 1) == 0) ++i;
  return i;
}

void ActivationRow(Activation function, const float* in, float scale, float bias, float alpha,
                   float* out, int64_t n) {
  if (!FastRow(function, in, scale, bias, alpha, out, n))
    ExactRow(function, in, scale, bias, alpha, out, n);
}

}  // namespace wt::chip
