// The arithmetic of the Vector and GpSimd engines: operations on rows of fp32, of integers and of
// bits.
#pragma once

#include <cstdint>

#include "chip/isa.h"

namespace wt::chip {

// Works on bit patterns of integers instead of fp32.
bool IsBitwise(AluOp op);
// Takes one input: abs, square, relu, rsqrt, sqrt, reciprocal, negative, logical_not, invert.
bool IsUnary(AluOp op);
bool IsReduction(AluOp op);  // legal in reductions: chip.md 9
bool IsBinaryArithmetic(AluOp op);
// The first generation whose Vector engine has it: abs_max, abs_min, square and relu came late.
Generation SinceOf(AluOp op);

// One result. Unary operations use `a` alone. The plain twin of the rows below.
float Apply(AluOp op, float a, float b);
uint32_t ApplyBits(AluOp op, uint32_t a, uint32_t b, int width);  // width: bits of the type

// out[i] = a[i] op b[i]. out may be a or b.
void AluRows(AluOp op, const float* a, const float* b, float* out, int64_t n);
// out[i] = a[i] op b, or b op a[i] when reversed.
void AluScalar(AluOp op, const float* a, float b, bool reverse, float* out, int64_t n);
// Exact 32-bit integers, as on GpSimd: wraps around.
void AluInts(AluOp op, const int32_t* a, const int32_t* b, bool is_signed, int32_t* out, int64_t n);

// out[i] = a[i] op b[i] on `width` bits; b has one element for all with `b_step` 0.
void BitRows(AluOp op, const uint32_t* a, const uint32_t* b, int b_step, bool reverse, int width,
             uint32_t* out, int64_t n);

// The value that a reduction begins with.
float Identity(AluOp op);
// a[0] op a[1] op … in fp32, with a written order: 64 interleaved partial results, then pairs.
// Subtraction goes from left to right: it takes the rest away from a[0].
float ReduceRow(AluOp op, const float* a, int64_t n);
// out[g] = the reduction of a[g * n … (g + 1) * n - 1], for `groups` of them.
void ReduceGroups(AluOp op, const float* a, int64_t n, int64_t groups, float* out);

// What tensor_tensor_scan does to a few rows of [rows, n] at once, so that one row's chain of
// operations hides behind another's: state = (a[i] op0 state) op1 b[i], out[i] = state.
struct ScanOps {
  AluOp op0, op1;
  bool reverse0, reverse1;  // state op0 a[i], b[i] op1 …
};
inline constexpr int64_t kScanRows = 8;
// Requires rows <= kScanRows. `state` [rows] goes in as the initial values; out may be a or b.
void ScanRows(const ScanOps& ops, const float* a, const float* b, int64_t rows, int64_t n,
              float* state, float* out);

}  // namespace wt::chip
