// Muon's update. The matrix products are MatMul's; the passes around them are here.
#include "tensor/muon.h"

#include <algorithm>
#include <cmath>

#include "tensor/adamw.h"
#include "tensor/matmul.h"
#include "tensor/pointwise.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/muon.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

// buf = lerp(buf, g, 1 - momentum); x = lerp(g, buf, momentum) when nesterov, else buf.
void Momentum(int64_t begin, int64_t end, const MuonOptions& o, const float* grad, float* buf,
              float* x) {
  const VF scale = Const(o.grad_scale), take = Const(1 - o.momentum);
  const VF lead = Const(o.nesterov ? o.momentum : 1.0f);
  ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
    const VF g = hn::Mul(Get(grad + i, part), scale), b = Get(buf + i, part);
    const VF next = hn::MulAdd(hn::Sub(g, b), take, b);
    Put(next, buf + i, part);
    Put(hn::MulAdd(hn::Sub(next, g), lead, g), x + i, part);
  });
}

void RowSquares(int64_t begin, int64_t end, int64_t cols, const float* x, float* sums) {
  for (int64_t r = begin; r < end; ++r) {
    sums[r] = SumOver(r * cols, (r + 1) * cols, [&](int64_t i, auto part) HWY_ATTR {
      const VF v = Get(x + i, part);
      return hn::Mul(v, v);
    });
  }
}

// For the columns [begin, end), over all rows in order.
void ColSquares(int64_t begin, int64_t end, int64_t rows, int64_t cols, const float* x,
                float* sums) {
  std::fill(sums + begin, sums + end, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
      const VF v = Get(row + i, part);
      Put(hn::MulAdd(v, v, Get(sums + i, part)), sums + i, part);
    });
  }
}

// x *= scale, row by row.
void ScaleRows(int64_t begin, int64_t end, int64_t cols, const float* row_scale, float* x) {
  for (int64_t r = begin; r < end; ++r) {
    const VF k = Const(row_scale[r]);
    ForEachVector(r * cols, (r + 1) * cols, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::Mul(Get(x + i, part), k), x + i, part);
    });
  }
}

// w -= lr u + lr wd w [u w >= 0], with u = x times the scales that are given (not null); the
// condition only when cautious.
void Update(int64_t begin, int64_t end, int64_t cols, const MuonOptions& o, float lr,
            const float* row_scale, const float* col_scale, const float* x, float* w) {
  const VF step = Const(lr), decay = Const(lr * o.weight_decay), zero = hn::Zero(kF32Tag);
  for (int64_t r = begin; r < end; ++r) {
    const VF k = Const(row_scale != nullptr ? row_scale[r] : 1.0f);
    const float* xr = x + r * cols;
    float* wr = w + r * cols;
    ForEachVector(0, cols, [&](int64_t i, auto part) HWY_ATTR {
      VF u = hn::Mul(Get(xr + i, part), k);
      if (col_scale != nullptr) u = hn::Mul(u, Get(col_scale + i, part));
      const VF w0 = Get(wr + i, part);
      VF shrink = hn::Mul(decay, w0);
      if (o.cautious) shrink = hn::IfThenElseZero(hn::Ge(hn::Mul(u, w0), zero), shrink);
      Put(hn::NegMulAdd(step, u, hn::Sub(w0, shrink)), wr + i, part);
    });
  }
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Momentum);
HWY_EXPORT(RowSquares);
HWY_EXPORT(ColSquares);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(Update);

namespace {

// Table 2 of the Polar Express paper's method, for five steps with its safety factor 0.02.
struct Coefficients {
  float a, b, c;
};
constexpr Coefficients kPolarExpress[] = {
    {8.156554524902461f, -22.48329292557795f, 15.878769915207462f},
    {4.042929935166739f, -2.808917465908714f, 0.5000178451051316f},
    {3.8916678022926607f, -2.772484153217685f, 0.5060648178503393f},
    {3.285753657755655f, -2.3681294933425376f, 0.46449024233003106f},
    {2.3465413258596377f, -1.7097828382687081f, 0.42323551169305323f},
};

// Where the pieces of `scratch` lie; sizes in floats, each a multiple of 64 bytes.
struct Layout {
  int64_t rows, cols;
  int64_t side() const { return std::min(rows, cols); }
  static int64_t Round(int64_t floats) { return (floats + 15) / 16 * 16; }
  int64_t update() const { return 0; }                               // [rows, cols]
  int64_t operand() const { return update() + Round(rows * cols); }  // X as the products read it
  int64_t gram() const { return operand() + Round(rows * cols); }    // A = X X^T, [side, side]
  int64_t gram_operand() const { return gram() + Round(side() * side()); }
  int64_t square() const { return gram_operand() + Round(side() * side()); }  // A A
  int64_t sums() const { return square() + Round(side() * side()); }          // [max(rows, cols)]
  int64_t total() const { return sums() + Round(std::max(rows, cols)); }
};

Array F32(float* data) { return {data, DType::kF32}; }

// One iteration X = a X + (b A + c A A) X for wide X, where A = X X^T; with the sides exchanged for
// tall X. Operands are bf16 unless exact.
void Iterate(const Layout& at, const Coefficients& k, bool exact, float* x, float* scratch) {
  const DType dtype = exact ? DType::kF32 : DType::kBF16;
  const int64_t n = at.side(), size = at.rows * at.cols;
  const Array operand{scratch + at.operand(), dtype};
  const Array gram_operand{scratch + at.gram_operand(), dtype};
  float *gram = scratch + at.gram(), *square = scratch + at.square();
  const bool tall = at.rows > at.cols;

  Cast(size, F32(x), operand);
  const ConstMatrix xm = RowMajor(operand.data, dtype, at.rows, at.cols);
  const ConstMatrix wide = tall ? xm.Transposed() : xm;
  MatMul(wide, wide.Transposed(), MutableRowMajor(gram, DType::kF32, n, n));
  Cast(n * n, F32(gram), gram_operand);
  const ConstMatrix am = RowMajor(gram_operand.data, dtype, n, n);
  MatMul(am, am, MutableRowMajor(square, DType::kF32, n, n));
  LinearCombine(n * n, k.b, F32(gram), k.c, F32(square), gram_operand);
  Scale(size, k.a, F32(x), F32(x));
  const Matrix out = MutableRowMajor(x, DType::kF32, at.rows, at.cols);
  tall ? MatMul(xm, am, out, true) : MatMul(am, xm, out, true);
}

float Norm(int64_t n, const float* x) {
  return static_cast<float>(std::sqrt(SumOfSquares(n, {x, DType::kF32})));
}

void RowSums(const Layout& at, const float* x, float* sums) {
  SplitRows(at.rows, at.cols, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(RowSquares)(begin, end, at.cols, x, sums);
  });
}

void ColSums(const Layout& at, const float* x, float* sums) {
  const auto body = [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ColSquares)(begin, end, at.rows, at.cols, x, sums);
  };
  ParallelRanges(at.cols, 256, std::cref(body));
}

// MuonEq: every row gets the root mean square of the row norms.
void Equilibrate(const Layout& at, float* x, float* sums) {
  RowSums(at, x, sums);
  double total = 0;
  for (int64_t r = 0; r < at.rows; ++r) total += sums[r];
  const float target = static_cast<float>(std::sqrt(total / static_cast<double>(at.rows)));
  for (int64_t r = 0; r < at.rows; ++r) sums[r] = target / std::max(1e-6f, std::sqrt(sums[r]));
  SplitRows(at.rows, at.cols, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ScaleRows)(begin, end, at.cols, sums, x);
  });
}

// Muon+: the Frobenius norm that a semi-orthogonal matrix of this shape has.
void Renormalise(const Layout& at, float* x) {
  const int64_t size = at.rows * at.cols;
  const float target = std::sqrt(static_cast<float>(at.side()));
  Scale(size, target / std::max(1e-6f, Norm(size, x)), F32(x), F32(x));
}

// NorMuon: `scales` gets 1 / sqrt(second moment) per row (column), times what keeps the norm.
void SecondMomentScales(const Layout& at, float beta2, const float* x, float* moment,
                        float* scales) {
  const bool per_row = at.rows >= at.cols;
  const int64_t n = MuonSecondMomentSize(at.rows, at.cols), over = per_row ? at.cols : at.rows;
  per_row ? RowSums(at, x, scales) : ColSums(at, x, scales);
  double before = 0, after = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double sum = scales[i];
    moment[i] += (1 - beta2) * (scales[i] / static_cast<float>(over) - moment[i]);
    scales[i] = 1.0f / std::sqrt(std::max(1e-10f, moment[i]));
    before += sum;
    after += sum * scales[i] * scales[i];
  }
  const double keep = std::sqrt(before) / std::max(1e-10, std::sqrt(after));
  for (int64_t i = 0; i < n; ++i) scales[i] *= static_cast<float>(keep);
}

void StepOne(const Layout& at, const MuonOptions& o, const float* grad, float* momentum,
             float* second_moment, float* weights, float* scratch) {
  const int64_t size = at.rows * at.cols;
  float *x = scratch + at.update(), *sums = scratch + at.sums();
  SplitElements(size, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Momentum)(begin, end, o, grad, momentum, x);
  });
  if (o.row_equilibrate) Equilibrate(at, x, sums);
  PolarExpress(at.rows, at.cols, o.ns_steps, o.exact, x, scratch);
  if (o.renormalise) Renormalise(at, x);
  const bool per_row = at.rows >= at.cols;
  if (o.normuon) SecondMomentScales(at, o.beta2, x, second_moment, sums);
  const float* row_scale = o.normuon && per_row ? sums : nullptr;
  const float* col_scale = o.normuon && !per_row ? sums : nullptr;
  const float aspect = static_cast<float>(at.rows) / static_cast<float>(at.cols);
  const float lr = o.lr * std::sqrt(std::max(1.0f, aspect));
  SplitRows(at.rows, at.cols, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Update)(begin, end, at.cols, o, lr, row_scale, col_scale, x, weights);
  });
}

}  // namespace

int64_t MuonSecondMomentSize(int64_t rows, int64_t cols) { return std::max(rows, cols); }

int64_t MuonScratchBytes(int64_t rows, int64_t cols) {
  return Layout{rows, cols}.total() * static_cast<int64_t>(sizeof(float));
}

void MuonStep(int64_t count, int64_t rows, int64_t cols, const MuonOptions& options,
              const float* grad, float* momentum, float* second_moment, float* weights,
              void* scratch) {
  const int64_t size = rows * cols, moments = MuonSecondMomentSize(rows, cols);
  for (int64_t i = 0; i < count; ++i) {
    float* moment = options.normuon ? second_moment + i * moments : nullptr;
    StepOne({rows, cols}, options, grad + i * size, momentum + i * size, moment, weights + i * size,
            static_cast<float*>(scratch));
  }
}

void PolarExpress(int64_t rows, int64_t cols, int steps, bool exact, float* x, void* scratch) {
  WT_CHECK(steps >= 1 && steps <= 5, "{} Polar Express steps, expected 1 .. 5", steps);
  const int64_t size = rows * cols;
  Scale(size, 1.0f / (1.01f * Norm(size, x) + 1e-6f), F32(x), F32(x));
  for (int i = 0; i < steps; ++i) {
    Iterate({rows, cols}, kPolarExpress[i], exact, x, static_cast<float*>(scratch));
  }
}

}  // namespace wt::tensor
#endif
