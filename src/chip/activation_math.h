// Elementary functions in fp32 as branch-free code that vectorises. Polynomials were fitted by
// reweighted least squares, each on the interval its function is reduced to; activation_test.cc
// measures the error of what is made of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "chip/clones.h"

namespace wt::chip::math {

WT_INLINE float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WT_INLINE uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }
WT_INLINE float Float(uint32_t bits) { return std::bit_cast<float>(bits); }

// c[0] + c[1] x + …
template <class... Rest>
WT_INLINE float Horner(float x, float c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return Fma(Horner(x, rest...), x, c0);
  }
}

constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  // ln 2 in two parts
constexpr float kLog2E = 1.44269504f;
constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, left in the low bits

// e^x: x = k ln 2 + r, and 2^k in two factors so that subnormals come out right.
WT_INLINE float Exp(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const float inside = low > 89.0f ? 89.0f : low;
  const float shifted = Fma(inside, kLog2E, kRound);
  const uint32_t k = Bits(shifted) - Bits(kRound);
  const float kf = shifted - kRound;
  const float r = Fma(kf, -kLn2Low, Fma(kf, -kLn2High, inside));
  const float q = Horner(r, 0.5f, 0.166665768f, 0.0416663748f, 0.00836320516f, 0.00139411568f);
  const float e = Fma(q * r, r, r) + 1.0f;
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(k) >> 1);
  return e * Float((half + 127) << 23) * Float((k - half + 127) << 23);
}

// ln of a positive normal number: x = 2^e m with m around 1.
WT_INLINE float LogNormal(float x) {
  const uint32_t shifted = Bits(x) - 0x3f3504f3u;  // of sqrt(1/2)
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float f = Float((shifted & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float q = Horner(f, 0.33333328f, -0.24999993f, 0.200012802f, -0.166684355f, 0.142344134f,
                         -0.124048663f, 0.117885477f, -0.116506458f, 0.0692852642f);
  const float s = f * f;
  const float tail = Fma(q * s, f, Fma(e, kLn2Low, -0.5f * s));
  return Fma(e, kLn2High, f + tail);
}

WT_INLINE float Log(float x) {
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const float result = LogNormal(scaled) - (tiny ? 23.0f * 0.693147181f : 0.0f);
  const float finite = x < INFINITY ? result : x;  // infinity and NaN stay
  return x > 0 ? finite : x == 0 ? -INFINITY : x != x ? x : NAN;
}

// ln(1 + z) for z in [0, 1].
WT_INLINE float Log1p(float z) {
  const float u = 1.0f + z;
  return LogNormal(u) + (z - (u - 1.0f)) / u;
}

WT_INLINE float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

WT_INLINE float Tanh(float x) {
  const float a = std::fabs(x), t = x * x;
  const float q =
      Horner(t, -0.333333206f, 0.1333223f, -0.0537927107f, 0.0207841076f, -0.00584435211f);
  const float small = Fma(q * t, x, x);
  const float large = std::copysign(1.0f - 2.0f / (Exp(2.0f * a) + 1.0f), x);
  return a < 0.625f ? small : large;
}

// e^(-square), `cut` being what rounding took from square.
WT_INLINE float ExpNegative(float square, float cut) {
  return Exp(-square) * (square < 200.0f ? 1.0f - cut : 1.0f);
}
WT_INLINE float ExpNegativeSquare(float t) {
  const float s = t * t;
  return ExpNegative(s, Fma(t, t, -s));
}
WT_INLINE float ExpNegativeHalfSquare(float x) {
  const float s = x * x;
  return ExpNegative(0.5f * s, 0.5f * Fma(x, x, -s));
}

// erfc(t) e^(t^2) for t >= 0: a polynomial in (t - 2.5) / (t + 2.5), over 1 + 2t.
WT_INLINE float ErfcScaled(float t) {
  const float c = t > 12.0f ? 12.0f : t;
  const float u = (c - 2.5f) / (c + 2.5f);
  const float p = Horner(u, 1.26483818f, -0.122356699f, -0.0990241294f, 0.157627907f, -0.102974474f,
                         0.0327763071f, 0.000983045453f, -0.00441527962f, 0.000339940778f,
                         0.00060652002f, 0.0000761876618f);
  return p / Fma(2.0f, c, 1.0f);
}

WT_INLINE float Erf(float x) {
  const float a = std::fabs(x), t = x * x;
  const float small = x * Horner(t, 1.12837917f, -0.376126345f, 0.112837075f, -0.0268600741f,
                                 0.00520273682f, -0.000816237116f, 0.0000845465856f);
  return a < 0.9f ? small : std::copysign(1.0f - ExpNegativeSquare(a) * ErfcScaled(a), x);
}

// The normal distribution: its integral and its density.
WT_INLINE float NormalCdf(float x) {
  const float half = 0.5f * ExpNegativeHalfSquare(x) * ErfcScaled(std::fabs(x) * 0.707106781f);
  return x < 0 ? half : 1.0f - half;
}
WT_INLINE float NormalPdf(float x) { return 0.398942280f * ExpNegativeHalfSquare(x); }

constexpr float kPi = 3.14159265f;

// sin on [-pi, pi]; outside, the cubic that touches it at pi goes on (chip.md 8).
WT_INLINE float Sin(float x) {
  const float turns = Fma(x, 0.318309886f, kRound);
  const float k = turns - kRound;
  const float r = Fma(k, -0x1.921fb6p1f, x) - k * -0x1.777a5cp-24f;  // pi in two parts
  const float t = r * r;
  const float q =
      Horner(t, -0.166666666f, 0.00833333125f, -0.000198408833f, 2.75260319e-06f, -2.38984238e-08f);
  const float s = Fma(q * t, r, r);
  const float inside = Bits(turns) & 1 ? -s : s;
  const float u = x - std::copysign(kPi, x);
  const float outside = Fma(u * u * u, 0.166666667f, -u);
  return std::fabs(x) <= kPi ? inside : outside;
}

WT_INLINE float Arctan(float x) {
  const float a = std::fabs(x);
  const float z = a > 1.0f ? 1.0f / a : a, t = z * z;
  const float q = Horner(t, -0.333333272f, 0.19999301f, -0.142716109f, 0.109883628f, -0.0850389543f,
                         0.0596064916f, -0.032763888f, 0.0117408262f, -0.00197357245f);
  const float y = Fma(q * t, z, z);
  return std::copysign(a > 1.0f ? 1.57079633f - y : y, x);
}

WT_INLINE float Softplus(float x) {
  const float log = Log1p(Exp(-std::fabs(x)));
  return x > 0 ? x + log : x != x ? x : log;
}

// x tanh(softplus(x)), with w = e^x: (w^2 + 2w) / (w^2 + 2w + 2).
WT_INLINE float Mish(float x) {
  const float w = Exp(x > 20.0f ? 20.0f : x);
  const float n = w * (w + 2.0f);
  return x * (n / (n + 2.0f));
}

// x sigmoid(beta x) and its derivative.
WT_INLINE float Swish(float x, float beta) { return x * Sigmoid(beta * x); }
WT_INLINE float SwishDx(float x, float beta) {
  const float s = Sigmoid(beta * x), rest = Sigmoid(-beta * x);
  return Fma(beta * x * s, rest, s);
}

// GELU by tanh: 0.5 (1 + tanh(u)) is sigmoid(2u).
WT_INLINE float GeluTanhArgument(float x) { return 1.59576912f * x * Fma(0.044715f * x, x, 1.0f); }
WT_INLINE float GeluTanh(float x) { return x * Sigmoid(GeluTanhArgument(x)); }
WT_INLINE float GeluTanhDx(float x) {
  const float u = GeluTanhArgument(x), s = Sigmoid(u), rest = Sigmoid(-u);
  const float slope = 1.59576912f * Fma(3 * 0.044715f * x, x, 1.0f);
  const float product = s * rest * slope * x;
  return s + (product == product ? product : 0.0f);  // where a factor overflowed, s * rest is 0
}

}  // namespace wt::chip::math
