#include "chip/alu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chip/clones.h"

namespace wt::chip {

bool IsBitwise(AluOp op) {
  switch (op) {
    case AluOp::kBitwiseAnd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
    case AluOp::kInvert:
    case AluOp::kLeftShift:
    case AluOp::kRightShift:
    case AluOp::kArithShiftRight:
      return true;
    default:
      return false;
  }
}

bool IsUnary(AluOp op) {
  switch (op) {
    case AluOp::kInvert:
    case AluOp::kLogicalNot:
    case AluOp::kAbs:
    case AluOp::kSquare:
    case AluOp::kRelu:
    case AluOp::kRsqrt:
    case AluOp::kSqrt:
    case AluOp::kReciprocal:
    case AluOp::kNegative:
      return true;
    default:
      return false;
  }
}

Generation SinceOf(AluOp op) {
  switch (op) {
    case AluOp::kAbsMax:
    case AluOp::kAbsMin:
    case AluOp::kSquare:
    case AluOp::kRelu:
      return Generation::kGen4;
    default:
      return Generation::kGen2;
  }
}

bool IsReduction(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
    case AluOp::kSubtract:
    case AluOp::kMultiply:
    case AluOp::kMaximum:
    case AluOp::kMinimum:
    case AluOp::kLogicalAnd:
    case AluOp::kLogicalOr:
    case AluOp::kLogicalXor:
    case AluOp::kBitwiseAnd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
      return true;
    default:
      return false;
  }
}

bool IsBinaryArithmetic(AluOp op) {
  return !IsBitwise(op) && !IsUnary(op) && op != AluOp::kBypass && op != AluOp::kAverage;
}

namespace {

WT_INLINE float Max(float a, float b) { return (a > b) | (a != a) ? a : b; }  // NaN wins
WT_INLINE float Min(float a, float b) { return (a < b) | (a != a) ? a : b; }

// The sign of the divisor, as Python's %.
WT_INLINE float Mod(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Calls fn(operation), an operation being a function object on two floats.
template <class Fn>
WT_INLINE void WithOp(AluOp op, const Fn& fn) {
#define WT_OP(name, expression)                                                             \
  case AluOp::name:                                                                         \
    return fn([](float a, [[maybe_unused]] float b) __attribute__((always_inline))->float { \
      return expression;                                                                    \
    });
  switch (op) {
    WT_OP(kAdd, a + b)
    WT_OP(kSubtract, a - b)
    WT_OP(kMultiply, a * b)
    WT_OP(kDivide, a / b)
    WT_OP(kMaximum, Max(a, b))
    WT_OP(kMinimum, Min(a, b))
    WT_OP(kPower, std::pow(a, b))
    WT_OP(kMod, Mod(a, b))
    WT_OP(kFmod, std::fmod(a, b))
    WT_OP(kAbsMax, std::fabs(a) > std::fabs(b) ? a : b)  // with its sign; a tie gives b
    WT_OP(kAbsMin, std::fabs(a) < std::fabs(b) ? a : b)
    WT_OP(kAverage, (a + b) * 0.5f)
    WT_OP(kEqual, a == b ? 1.0f : 0.0f)
    WT_OP(kNotEqual, a != b ? 1.0f : 0.0f)
    WT_OP(kLess, a < b ? 1.0f : 0.0f)
    WT_OP(kLessEqual, a <= b ? 1.0f : 0.0f)
    WT_OP(kGreater, a > b ? 1.0f : 0.0f)
    WT_OP(kGreaterEqual, a >= b ? 1.0f : 0.0f)
    WT_OP(kLogicalAnd, (a != 0) & (b != 0) ? 1.0f : 0.0f)
    WT_OP(kLogicalOr, (a != 0) | (b != 0) ? 1.0f : 0.0f)
    WT_OP(kLogicalXor, (a != 0) ^ (b != 0) ? 1.0f : 0.0f)
    WT_OP(kLogicalNot, a == 0 ? 1.0f : 0.0f)
    WT_OP(kAbs, std::fabs(a))
    WT_OP(kSquare, a * a)
    WT_OP(kRelu, (a > 0) | (a != a) ? a : 0.0f)
    WT_OP(kRsqrt, 1.0f / std::sqrt(a))
    WT_OP(kSqrt, std::sqrt(a))
    WT_OP(kReciprocal, 1.0f / a)
    WT_OP(kNegative, -a)
    default:  // kBypass; bits never come here
      return fn([](float a, float) __attribute__((always_inline))->float { return a; });
  }
#undef WT_OP
}

}  // namespace

float Apply(AluOp op, float a, float b) {
  float result = 0;
  WithOp(op, [&](auto operation) { result = operation(a, b); });
  return result;
}

WT_CLONES void AluRows(AluOp op, const float* a, const float* b, float* out, int64_t n) {
  WithOp(
      op, [=](auto operation) __attribute__((always_inline)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = operation(a[i], b[i]);
      });
}

WT_CLONES void AluScalar(AluOp op, const float* a, float b, bool reverse, float* out, int64_t n) {
  WithOp(
      op, [=](auto operation) __attribute__((always_inline)) {
        if (reverse) {
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) out[i] = operation(b, a[i]);
        } else {
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) out[i] = operation(a[i], b);
        }
      });
}

uint32_t ApplyBits(AluOp op, uint32_t a, uint32_t b, int width) {
  const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  const bool past = b >= static_cast<uint32_t>(width);  // shifts everything out
  switch (op) {
    case AluOp::kBitwiseAnd:
      return a & b;
    case AluOp::kBitwiseOr:
      return a | b;
    case AluOp::kBitwiseXor:
      return a ^ b;
    case AluOp::kInvert:
      return ~a & mask;
    case AluOp::kLeftShift:
      return past ? 0 : (a << b) & mask;
    case AluOp::kRightShift:
      return past ? 0 : a >> b;
    case AluOp::kArithShiftRight: {
      const int32_t value = static_cast<int32_t>(a << (32 - width)) >> (32 - width);
      return static_cast<uint32_t>(value >> (past ? width - 1 : static_cast<int>(b))) & mask;
    }
    default:
      return a;
  }
}

namespace {

// Loops with the operation known, so that they vectorise.
template <class Fn>
WT_INLINE void WithBitOp(AluOp op, int width, const Fn& fn) {
  const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  const auto bits = static_cast<uint32_t>(width);
  switch (op) {
    case AluOp::kBitwiseAnd:
      return fn([](uint32_t a, uint32_t b) __attribute__((always_inline)) { return a & b; });
    case AluOp::kBitwiseOr:
      return fn([](uint32_t a, uint32_t b) __attribute__((always_inline)) { return a | b; });
    case AluOp::kBitwiseXor:
      return fn([](uint32_t a, uint32_t b) __attribute__((always_inline)) { return a ^ b; });
    case AluOp::kLeftShift:
      return fn([=](uint32_t a, uint32_t b) __attribute__((always_inline)) {
        return b < bits ? (a << (b & 31)) & mask : 0u;
      });
    case AluOp::kRightShift:
      return fn([=](uint32_t a, uint32_t b)
                    __attribute__((always_inline)) { return b < bits ? a >> (b & 31) : 0u; });
    default:
      return fn([=](uint32_t a, uint32_t b) { return ApplyBits(op, a, b, width); });
  }
}

}  // namespace

WT_CLONES void BitRows(AluOp op, const uint32_t* a, const uint32_t* b, int b_step, bool reverse,
                       int width, uint32_t* out, int64_t n) {
  WithBitOp(
      op, width, [=](auto operation) __attribute__((always_inline)) {
        if (b_step == 1) {
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i)
            out[i] = reverse ? operation(b[i], a[i]) : operation(a[i], b[i]);
        } else {
          const uint32_t other = *b;
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i)
            out[i] = reverse ? operation(other, a[i]) : operation(a[i], other);
        }
      });
}

namespace {

// Wraps around; division goes toward zero, by zero it gives all ones.
template <class T, class Fn>
void WithIntOp(AluOp op, const Fn& fn) {
#define WT_INT_OP(name, expression) \
  case AluOp::name:                 \
    return fn([](T a, T b) { return static_cast<T>(expression); });
  switch (op) {
    WT_INT_OP(kAdd, uint32_t(a) + uint32_t(b))
    WT_INT_OP(kSubtract, uint32_t(a) - uint32_t(b))
    WT_INT_OP(kMultiply, uint32_t(a) * uint32_t(b))
    WT_INT_OP(kMaximum, a > b ? a : b)
    WT_INT_OP(kMinimum, a < b ? a : b)
    WT_INT_OP(kEqual, a == b)
    WT_INT_OP(kNotEqual, a != b)
    WT_INT_OP(kLess, a < b)
    WT_INT_OP(kLessEqual, a <= b)
    WT_INT_OP(kGreater, a > b)
    WT_INT_OP(kGreaterEqual, a >= b)
    WT_INT_OP(kLogicalAnd, (a != 0) & (b != 0))
    WT_INT_OP(kLogicalOr, (a != 0) | (b != 0))
    WT_INT_OP(kLogicalXor, (a != 0) ^ (b != 0))
    WT_INT_OP(kDivide, b == 0 ? -1 : int64_t{a} / int64_t{b})
    default:  // by way of double: power, remainders
      return fn([op](T a, T b) {
        double result = std::pow(double(a), double(b));
        if (op == AluOp::kFmod || op == AluOp::kMod)
          result = b == 0 ? 0 : std::fmod(double(a), double(b));
        if (op == AluOp::kMod && result != 0 && (result < 0) != (b < 0)) result += double(b);
        return std::fabs(result) < 0x1p62 ? static_cast<T>(std::llrint(result)) : T{0};
      });
  }
#undef WT_INT_OP
}

template <class T>
void AluIntsOf(AluOp op, const int32_t* a, const int32_t* b, int32_t* out, int64_t n) {
  WithIntOp<T>(op, [=](auto operation) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<int32_t>(operation(static_cast<T>(a[i]), static_cast<T>(b[i])));
  });
}

}  // namespace

void AluInts(AluOp op, const int32_t* a, const int32_t* b, bool is_signed, int32_t* out,
             int64_t n) {
  is_signed ? AluIntsOf<int32_t>(op, a, b, out, n) : AluIntsOf<uint32_t>(op, a, b, out, n);
}

float Identity(AluOp op) {
  switch (op) {
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1;
    case AluOp::kMaximum:
      return -std::numeric_limits<float>::infinity();
    case AluOp::kMinimum:
    case AluOp::kAbsMin:
      return std::numeric_limits<float>::infinity();
    default:
      return 0;
  }
}

namespace {

constexpr int64_t kLanes =
    64;  // so many that the compiler keeps the loop over them and vectorises it

template <class Op>
WT_INLINE float ReduceLanes(const Op& op, const float* a, int64_t n) {
  float lanes[kLanes];
  for (int64_t k = 0; k < kLanes; ++k) lanes[k] = a[k];
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 1
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = op(lanes[k], a[i + k]);
  }
  for (int64_t k = 0; i + k < n; ++k) lanes[k] = op(lanes[k], a[i + k]);
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t k = 0; k < half; ++k) lanes[k] = op(lanes[k], lanes[k + half]);
  }
  return lanes[0];
}

template <class Op>
WT_INLINE float ReduceShort(const Op& op, const float* a, int64_t n) {
  float result = a[0];
  for (int64_t i = 1; i < n; ++i) result = op(result, a[i]);
  return result;
}

WT_CLONES void ReduceInOrder(AluOp op, const float* a, int64_t n, int64_t groups, int64_t stride,
                             float* out) {
  WithOp(
      op, [=](auto operation) __attribute__((always_inline)) {
        for (int64_t g = 0; g < groups; ++g) {
          const float* group = a + g * stride;
          out[g] = n < kLanes ? ReduceShort(operation, group, n) : ReduceLanes(operation, group, n);
        }
      });
}

bool IsLogical(AluOp op) {
  return op == AluOp::kLogicalAnd || op == AluOp::kLogicalOr || op == AluOp::kLogicalXor;
}

}  // namespace

void ReduceGroups(AluOp op, const float* a, int64_t n, int64_t groups, float* out) {
  if (n == 0) {
    std::fill_n(out, groups, Identity(op));
  } else if (n == 1) {
    for (int64_t g = 0; g < groups; ++g) out[g] = IsLogical(op) ? a[g] != 0 : a[g];
  } else if (op == AluOp::kSubtract) {
    ReduceInOrder(AluOp::kAdd, a + 1, n - 1, groups, n, out);
    for (int64_t g = 0; g < groups; ++g) out[g] = a[g * n] - out[g];
  } else {
    ReduceInOrder(op, a, n, groups, n, out);
  }
}

float ReduceRow(AluOp op, const float* a, int64_t n) {
  float result;
  ReduceGroups(op, a, n, 1, &result);
  return result;
}

namespace {

// The operations that scans are made of; false for others.
template <class Fn>
bool WithScanOp(AluOp op, const Fn& fn) {
  switch (op) {
    case AluOp::kAdd:
      return fn([](float x, float y) { return x + y; });
    case AluOp::kSubtract:
      return fn([](float x, float y) { return x - y; });
    case AluOp::kMultiply:
      return fn([](float x, float y) { return x * y; });
    case AluOp::kMaximum:
      return fn([](float x, float y) { return Max(x, y); });
    case AluOp::kMinimum:
      return fn([](float x, float y) { return Min(x, y); });
    default:
      return false;
  }
}

template <class Op0, class Op1>
void ScanEight(const Op0& op0, const Op1& op1, const float* a, const float* b, int64_t n,
               float* state, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t r = 0; r < kScanRows; ++r) {
      state[r] = op1(op0(a[r * n + i], state[r]), b[r * n + i]);
      out[r * n + i] = state[r];
    }
  }
}

bool FastScan(const ScanOps& ops, const float* a, const float* b, int64_t n, float* state,
              float* out) {
  return WithScanOp(ops.op0, [&](auto op0) {
    return WithScanOp(ops.op1, [&](auto op1) {
      float local[kScanRows];  // not to be mistaken for part of out
      std::copy_n(state, kScanRows, local);
      ScanEight(op0, op1, a, b, n, local, out);
      std::copy_n(local, kScanRows, state);
      return true;
    });
  });
}

}  // namespace

void ScanRows(const ScanOps& ops, const float* a, const float* b, int64_t rows, int64_t n,
              float* state, float* out) {
  const bool plain = !ops.reverse0 && !ops.reverse1 && rows == kScanRows;
  if (plain && FastScan(ops, a, b, n, state, out)) return;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = r * n; i < (r + 1) * n; ++i) {
      const float inner =
          ops.reverse0 ? Apply(ops.op0, state[r], a[i]) : Apply(ops.op0, a[i], state[r]);
      state[r] = ops.reverse1 ? Apply(ops.op1, b[i], inner) : Apply(ops.op1, inner, b[i]);
      out[i] = state[r];
    }
  }
}

}  // namespace wt::chip
