#include "tensor/muon.h"

#include <numeric>

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

struct MuonCase {
  int64_t rows, cols;
};

// [rows, inner] x [inner, cols], row-major.
Doubles Product(const Doubles& a, const Doubles& b, int64_t rows, int64_t inner, int64_t cols) {
  Doubles c(rows * cols);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < cols; ++j) c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
    }
  }
  return c;
}

Doubles Transposed(const Doubles& a, int64_t rows, int64_t cols) {
  Doubles t(a.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) t[j * rows + i] = a[i * cols + j];
  }
  return t;
}

double Norm(const Doubles& a) { return std::sqrt(Inner(a, a)); }

// Squares of the singular values: eigenvalues of the smaller Gram matrix, by Jacobi rotations.
Doubles SquaredSingularValues(const Doubles& x, int64_t rows, int64_t cols) {
  const int64_t n = std::min(rows, cols);
  const Doubles t = Transposed(x, rows, cols);
  Doubles a = rows <= cols ? Product(x, t, rows, cols, rows) : Product(t, x, cols, rows, cols);
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (int64_t k = 0; k < n; ++k) {
          const double u = a[k * n + p], v = a[k * n + q];
          a[k * n + p] = c * u - s * v;
          a[k * n + q] = s * u + c * v;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double u = a[p * n + k], v = a[q * n + k];
          a[p * n + k] = c * u - s * v;
          a[q * n + k] = s * u + c * v;
        }
      }
    }
  }
  Doubles values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = a[i * n + i];
  return values;
}

constexpr double kCoefficients[5][3] = {
    {8.156554524902461, -22.48329292557795, 15.878769915207462},
    {4.042929935166739, -2.808917465908714, 0.5000178451051316},
    {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
    {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
    {2.3465413258596377, -1.7097828382687081, 0.42323551169305323}};

// X = a X + b (X X^T) X + c (X X^T)^2 X; the same polynomial for wide and tall X.
Doubles PolarTwin(Doubles x, int64_t rows, int64_t cols, int steps) {
  const double scale = 1.01 * Norm(x) + 1e-6;
  for (double& v : x) v /= scale;
  for (int i = 0; i < steps; ++i) {
    const Doubles gram = Product(x, Transposed(x, rows, cols), rows, cols, rows);
    const Doubles cubic = Product(gram, x, rows, rows, cols);
    const Doubles quintic = Product(gram, cubic, rows, rows, cols);
    for (size_t j = 0; j < x.size(); ++j) {
      x[j] = kCoefficients[i][0] * x[j] + kCoefficients[i][1] * cubic[j] +
             kCoefficients[i][2] * quintic[j];
    }
  }
  return x;
}

struct MuonTwin {
  int64_t rows, cols;
  MuonOptions o;
  Doubles momentum, moment, w;

  double RowNorm(const Doubles& x, int64_t r) const {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += x[r * cols + c] * x[r * cols + c];
    return std::sqrt(sum);
  }

  void Equilibrate(Doubles& x) const {
    const double target = Norm(x) / std::sqrt(static_cast<double>(rows));
    for (int64_t r = 0; r < rows; ++r) {
      const double norm = RowNorm(x, r);
      for (int64_t c = 0; c < cols; ++c) x[r * cols + c] *= target / norm;
    }
  }

  void NorMuon(Doubles& x) {
    const bool per_row = rows >= cols;
    const int64_t n = per_row ? rows : cols;
    Doubles mean(n);
    for (int64_t i = 0; i < rows * cols; ++i) {
      mean[per_row ? i / cols : i % cols] +=
          x[i] * x[i] / static_cast<double>(per_row ? cols : rows);
    }
    const double before = Norm(x);
    for (int64_t i = 0; i < n; ++i) moment[i] = o.beta2 * moment[i] + (1.0 - o.beta2) * mean[i];
    for (int64_t i = 0; i < rows * cols; ++i) {
      x[i] /= std::sqrt(std::max(1e-10, moment[per_row ? i / cols : i % cols]));
    }
    const double after = Norm(x);
    for (double& v : x) v *= before / after;
  }

  void Step(const Doubles& grad) {
    Doubles x(grad.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double g = o.grad_scale * grad[i];
      momentum[i] = o.momentum * momentum[i] + (1.0 - o.momentum) * g;
      x[i] = o.nesterov ? (1.0 - o.momentum) * g + o.momentum * momentum[i] : momentum[i];
    }
    if (o.row_equilibrate) Equilibrate(x);
    x = PolarTwin(x, rows, cols, o.ns_steps);
    if (o.renormalise) {
      const double scale = std::sqrt(static_cast<double>(std::min(rows, cols))) / Norm(x);
      for (double& v : x) v *= scale;
    }
    if (o.normuon) NorMuon(x);
    const double lr = o.lr * std::sqrt(std::max(1.0, static_cast<double>(rows) / cols));
    for (size_t i = 0; i < x.size(); ++i) {
      const bool decays = !o.cautious || x[i] * w[i] >= 0;
      w[i] -= lr * x[i] + (decays ? lr * o.weight_decay * w[i] : 0);
    }
  }
};

std::vector<float> ScratchFor(int64_t rows, int64_t cols) {
  return std::vector<float>(MuonScratchBytes(rows, cols) / 4);
}

void ExpectMuonIsTheTwin(int64_t rows, int64_t cols, MuonOptions o, double tolerance) {
  const int64_t size = rows * cols, moments = MuonSecondMomentSize(rows, cols), count = 2;
  TestArray w = TestArray::Random(count * size, DType::kF32, 1);
  TestArray momentum(count * size, DType::kF32), moment(count * moments, DType::kF32);
  std::vector<MuonTwin> twins;
  const Doubles start = w.doubles();
  for (int64_t i = 0; i < count; ++i) {
    twins.push_back({rows, cols, o, Doubles(size), Doubles(moments),
                     Doubles(start.begin() + i * size, start.begin() + (i + 1) * size)});
  }
  std::vector<float> scratch = ScratchFor(rows, cols);
  for (int step = 0; step < 3; ++step) {
    TestArray grad = TestArray::Random(count * size, DType::kF32, 20 + step, 1e-3);
    MuonStep(count, rows, cols, o, grad.f32(), momentum.f32(), moment.f32(), w.f32(),
             scratch.data());
    const Doubles g = grad.doubles();
    for (int64_t i = 0; i < count; ++i) {
      twins[i].Step(Doubles(g.begin() + i * size, g.begin() + (i + 1) * size));
    }
  }
  Doubles want = twins[0].w;
  want.insert(want.end(), twins[1].w.begin(), twins[1].w.end());
  ExpectClose(w, want, tolerance);
}

MuonOptions Everything(bool exact) {
  MuonOptions o;
  o.lr = 0.1f;
  o.momentum = 0.85f;
  o.weight_decay = 0.2f;
  o.grad_scale = 0.5f;
  o.row_equilibrate = o.renormalise = true;
  o.exact = exact;
  return o;
}

TEST(MuonTest, EveryOptionIsTheTwin) {
  for (MuonCase c : {MuonCase{6, 17}, {17, 6}, {9, 9}, {1, 5}}) {
    MuonOptions o = Everything(true);
    ExpectMuonIsTheTwin(c.rows, c.cols, o, 2e-4);
    o.nesterov = o.cautious = false;
    ExpectMuonIsTheTwin(c.rows, c.cols, o, 2e-4);
    o.normuon = o.row_equilibrate = o.renormalise = false;
    ExpectMuonIsTheTwin(c.rows, c.cols, o, 2e-4);
  }
}

TEST(MuonTest, PlainTargetIsTheTwinToo) {
  DisableVectorTargets();
  ExpectMuonIsTheTwin(7, 12, Everything(true), 2e-4);
  EnableVectorTargets();
}

// A step of bf16 products moves weights by lr times a matrix near the twin's.
TEST(MuonTest, BF16ProductsStayNearTheTwin) {
  ExpectMuonIsTheTwin(24, 40, Everything(false), 0.05);
}

TEST(MuonTest, SingularValuesComeOutNearOne) {
  for (MuonCase c : {MuonCase{32, 32}, {24, 80}, {80, 24}}) {
    for (bool exact : {false, true}) {
      TestArray x = TestArray::Random(c.rows * c.cols, DType::kF32, c.rows);
      std::vector<float> scratch = ScratchFor(c.rows, c.cols);
      PolarExpress(c.rows, c.cols, 5, exact, x.f32(), scratch.data());
      for (double s : SquaredSingularValues(x.doubles(), c.rows, c.cols)) {
        EXPECT_GT(std::sqrt(s), 0.7) << c.rows << " x " << c.cols;
        EXPECT_LT(std::sqrt(s), 1.2) << c.rows << " x " << c.cols;
      }
    }
  }
}

TEST(MuonTest, ZeroGradientMovesNothingButDecay) {
  TestArray zero(48, DType::kF32), w = TestArray::Random(48, DType::kF32, 1);
  TestArray momentum = zero, moment(8, DType::kF32);
  const Doubles before = w.doubles();
  std::vector<float> scratch = ScratchFor(6, 8);
  MuonStep(1, 6, 8, Everything(false), zero.f32(), momentum.f32(), moment.f32(), w.f32(),
           scratch.data());
  for (int64_t i = 0; i < 48; ++i) EXPECT_NEAR(w[i], before[i] * (1 - 0.1 * 0.2), 1e-6);
}

TEST(MuonTest, SameBitsAtAnyThreads) {
  const int64_t rows = 130, cols = 260;
  TestArray grad = TestArray::Random(rows * cols, DType::kF32, 3);
  std::vector<float> scratch = ScratchFor(rows, cols);
  ExpectSameAtAnyThreads([&] {
    TestArray w = TestArray::Random(rows * cols, DType::kF32, 4);
    TestArray momentum(rows * cols, DType::kF32), moment(cols, DType::kF32);
    MuonStep(1, rows, cols, Everything(false), grad.f32(), momentum.f32(), moment.f32(), w.f32(),
             scratch.data());
    return w.bytes();
  });
}

}  // namespace
}  // namespace wt::tensor
