// Definitions of the activation functions, in double: what activation.cc approximates.
#include <cmath>
#include <numbers>

#include "chip/activation.h"

namespace wt::chip {
namespace {

constexpr double kInvSqrtPi = std::numbers::inv_sqrtpi;
constexpr double kSqrt2 = std::numbers::sqrt2;
constexpr double kPi = std::numbers::pi;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
double Cdf(double x) { return 0.5 * std::erfc(-x / kSqrt2); }
double Pdf(double x) { return std::exp(-0.5 * x * x) * kInvSqrtPi / kSqrt2; }

// Outside [-pi, pi] the last polynomial goes on: the cubic that touches sine at pi. The documents'
// example is sin(9.0) = 27.65.
double Sin(double x) {
  if (std::fabs(x) <= kPi) return std::sin(x);
  const double u = x - std::copysign(kPi, x);
  return -u + u * u * u / 6;
}

double GeluTanhInner(double x) { return kSqrt2 * kInvSqrtPi * (x + 0.044715 * x * x * x); }

double GeluTanhDx(double x) {
  const double t = std::tanh(GeluTanhInner(x));
  const double slope = kSqrt2 * kInvSqrtPi * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

double SwishDx(double x, double beta) {
  const double s = Sigmoid(beta * x);
  return s + beta * x * s * (1 - s);
}

}  // namespace

double ActivationExact(Activation function, double x, double alpha) {
  switch (function) {
    case Activation::kCopy:
    case Activation::kIdentity:
    case Activation::kCount:
      return x;
    case Activation::kSquare:
      return x * x;
    case Activation::kSqrt:
      return std::sqrt(x);
    case Activation::kRsqrt:
      return 1 / std::sqrt(x);
    case Activation::kReciprocal:
      return 1 / x;
    case Activation::kExp:
      return std::exp(x);
    case Activation::kLog:
      return std::log(x);
    case Activation::kSin:
      return Sin(x);
    case Activation::kCos:
      return std::cos(x);
    case Activation::kTan:
      return std::tan(x);
    case Activation::kArctan:
      return std::atan(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return Sigmoid(x);
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kPrelu:
      return x < 0 ? alpha * x : x;
    case Activation::kLeakyRelu:
      return x < 0 ? 0.01 * x : x;
    case Activation::kGelu:
      return x * Cdf(x);
    case Activation::kGeluDx:
      return Cdf(x) + x * Pdf(x);
    case Activation::kGeluApprxTanh:
      return 0.5 * x * (1 + std::tanh(GeluTanhInner(x)));
    case Activation::kGeluApprxTanhDx:
      return GeluTanhDx(x);
    case Activation::kGeluApprxSigmoid:
      return x * Sigmoid(1.702 * x);
    case Activation::kGeluApprxSigmoidDx:
      return SwishDx(x, 1.702);
    case Activation::kSilu:
      return x * Sigmoid(x);
    case Activation::kSiluDx:
      return SwishDx(x, 1);
    case Activation::kSoftplus:
      return Softplus(x);
    case Activation::kMish:
      return x * std::tanh(Softplus(x));
    case Activation::kErf:
      return std::erf(x);
    case Activation::kErfDx:
      return 2 * kInvSqrtPi * std::exp(-x * x);
    case Activation::kAbs:
      return std::fabs(x);
    case Activation::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Activation::kCeil:
      return std::ceil(x);
    case Activation::kFloor:
      return std::floor(x);
    case Activation::kTrunc:
      return std::trunc(x);
  }
  return x;
}

}  // namespace wt::chip
