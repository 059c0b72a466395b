#include "tensor/cross_entropy.h"

#include "tensor/kernel_testing.h"
#include "tensor/softmax.h"

namespace wt::tensor {
namespace {

WT_KERNEL_TEST(HeadLossTest);

struct HeadLossCase {
  HeadLossShape shape;
  TestArray x, w;
  std::vector<int32_t> targets;
  std::vector<float> weights;
  HeadLossInputs inputs() { return {x.array(), w.array(), targets.data(), weights.data()}; }
  int64_t rows() const { return shape.batch * shape.time; }
};

// Every fourth target is ignored; few distinct targets, so that offsets share some.
HeadLossCase RandomHeadLoss(const HeadLossShape& shape, DType dtype, double scale = 0.7) {
  const int64_t rows = shape.batch * shape.time;
  HeadLossCase c{shape,
                 TestArray::Random(rows * shape.width, dtype, 1, scale),
                 TestArray::Random(shape.vocab * shape.width, dtype, 2, scale),
                 {},
                 {1.0f, 0.5f, 0.25f}};
  Philox random(3, 0);
  for (int64_t r = 0; r < rows; ++r) {
    c.targets.push_back(r % 4 == 3 ? -1 : static_cast<int32_t>(random.NextBelow(4)));
  }
  return c;
}

std::vector<HeadLossShape> HeadLossShapes() {
  return {{2, 6, 5, 13, 15.0f, 1},
          {2, 6, 5, 13, 15.0f, 3},
          {1, 7, 3, 8, 0.0f, 2},
          {1, 5, 4, 9, 100.0f, 1}};
}

double Nll(const HeadLossShape& s, const Doubles& x, const Doubles& w, int64_t r, int32_t target) {
  double sum = 0, at_target = 0;
  for (int64_t v = 0; v < s.vocab; ++v) {
    double z = 0;
    for (int64_t d = 0; d < s.width; ++d) z += x[r * s.width + d] * w[v * s.width + d];
    if (s.softcap > 0) z = s.softcap * std::tanh(z / s.softcap);
    sum += std::exp(z);
    if (v == target) at_target = z;
  }
  return std::log(sum) - at_target;
}

double HeadLossTwin(const HeadLossCase& c, const Doubles& x, const Doubles& w) {
  double loss = 0;
  for (int k = 0; k < c.shape.predict; ++k) {
    double sum = 0, count = 0;
    for (int64_t r = 0; r < c.rows(); ++r) {
      if (r % c.shape.time + k >= c.shape.time || c.targets[r + k] < 0) continue;
      sum += Nll(c.shape, x, w, r, c.targets[r + k]);
      count += 1;
    }
    if (count > 0) loss += c.weights[k] * sum / count;
  }
  return loss;
}

TEST_P(HeadLossTest, ForwardIsTheTwin) {
  for (const HeadLossShape& shape : HeadLossShapes()) {
    HeadLossCase c = RandomHeadLoss(shape, dtype());
    float loss;
    TestArray nll(c.rows(), DType::kF32);
    HeadLossForward(shape, c.inputs(), &loss, nll.f32());
    EXPECT_NEAR(loss, HeadLossTwin(c, c.x.doubles(), c.w.doubles()), 3e-6);
    for (int64_t r = 0; r < c.rows(); ++r) {
      const int32_t t = c.targets[r];
      EXPECT_NEAR(nll[r], t < 0 ? 0 : Nll(shape, c.x.doubles(), c.w.doubles(), r, t), 3e-6);
    }
  }
}

TEST_P(HeadLossTest, BackwardIsTheTwinsGradient) {
  for (const HeadLossShape& shape : HeadLossShapes()) {
    HeadLossCase c = RandomHeadLoss(shape, dtype());
    TestArray d_x = Empty(c.x.size()), d_w(c.w.size(), DType::kF32);
    Doubles want_x = NumericGradient(
        c.x.doubles(), [&](const Doubles& at) { return 2 * HeadLossTwin(c, at, c.w.doubles()); });
    Doubles want_w = NumericGradient(
        c.w.doubles(), [&](const Doubles& at) { return 2 * HeadLossTwin(c, c.x.doubles(), at); });
    HeadLossBackward(shape, c.inputs(), 2.0f, d_x.array(), d_w.f32());
    // bf16: the logits' gradient is rounded before the products, so errors add up along a row.
    const double tolerance = dtype() == DType::kBF16 ? 1.0 / 64 : 2e-5;
    TestArray d_x32(d_x.size(), DType::kF32);
    for (int64_t i = 0; i < d_x.size(); ++i) d_x32.Set(i, d_x[i]);
    ExpectClose(d_x32, want_x, tolerance);
    ExpectClose(d_w, want_w, tolerance);
  }
}

TEST_P(HeadLossTest, OnePassGivesWhatTwoGive) {
  const HeadLossShape shape = {3, 250, 6, 301, 15.0f, 2};  // several chunks
  HeadLossCase c = RandomHeadLoss(shape, dtype());
  float loss, loss2;
  TestArray nll(c.rows(), DType::kF32), nll2 = nll, d_x = Empty(c.x.size()), d_x2 = d_x;
  TestArray d_w(c.w.size(), DType::kF32), d_w2 = d_w;
  HeadLossForward(shape, c.inputs(), &loss, nll.f32());
  HeadLossBackward(shape, c.inputs(), 1.5f, d_x.array(), d_w.f32());
  HeadLossForwardBackward(shape, c.inputs(), 1.5f, &loss2, nll2.f32(), d_x2.array(), d_w2.f32());
  EXPECT_EQ(loss, loss2);
  EXPECT_EQ(nll.bytes(), nll2.bytes());
  EXPECT_EQ(d_x.bytes(), d_x2.bytes());
  EXPECT_EQ(d_w.bytes(), d_w2.bytes());
}

TEST_P(HeadLossTest, SameBitsAtAnyThreads) {
  const HeadLossShape shape = {2, 300, 8, 130, 15.0f, 1};
  HeadLossCase c = RandomHeadLoss(shape, dtype());
  ExpectSameAtAnyThreads([&] {
    TestArray loss(1, DType::kF32), d_x = Empty(c.x.size()), d_w(c.w.size(), DType::kF32);
    HeadLossForwardBackward(shape, c.inputs(), 1.0f, loss.f32(), nullptr, d_x.array(), d_w.f32());
    std::vector<char> bytes = loss.bytes();
    bytes.insert(bytes.end(), d_x.bytes().begin(), d_x.bytes().end());
    bytes.insert(bytes.end(), d_w.bytes().begin(), d_w.bytes().end());
    return bytes;
  });
}

TEST_P(HeadLossTest, HugeLogitsStayFinite) {
  for (float softcap : {0.0f, 15.0f, 200.0f}) {
    HeadLossCase c = RandomHeadLoss({1, 6, 5, 13, softcap, 1}, dtype(), 30);
    float loss;
    TestArray d_x = Empty(c.x.size()), d_w(c.w.size(), DType::kF32);
    HeadLossForwardBackward(c.shape, c.inputs(), 1.0f, &loss, nullptr, d_x.array(), d_w.f32());
    const double want = HeadLossTwin(c, c.x.doubles(), c.w.doubles());
    EXPECT_TRUE(std::isfinite(loss));
    if (softcap > 0) {  // without a cap the twin itself overflows
      EXPECT_NEAR(loss, want, 1e-5 * want);
    }
    for (double v : d_x.doubles()) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST_P(HeadLossTest, NothingToPredictIsZero) {
  HeadLossCase c = RandomHeadLoss({1, 4, 3, 8, 15.0f, 1}, dtype());
  c.targets.assign(4, -1);
  float loss = 7;
  TestArray d_x = Random(c.x.size(), 5), d_w(c.w.size(), DType::kF32);
  HeadLossForwardBackward(c.shape, c.inputs(), 1.0f, &loss, nullptr, d_x.array(), d_w.f32());
  EXPECT_EQ(loss, 0);
  EXPECT_EQ(d_x.doubles(), Doubles(c.x.size(), 0.0));
  EXPECT_EQ(d_w.doubles(), Doubles(c.w.size(), 0.0));
}

TEST_P(HeadLossTest, LogitsAreCapped) {
  const int64_t rows = 3, width = 5, vocab = 21;
  TestArray x = Random(rows * width, 1, 4), w = Random(vocab * width, 2, 4);
  TestArray logits(rows * vocab, DType::kF32);
  Doubles want(rows * vocab);
  for (int64_t i = 0; i < rows * vocab; ++i) {
    for (int64_t d = 0; d < width; ++d) {
      want[i] += x[i / vocab * width + d] * w[i % vocab * width + d];
    }
    want[i] = 15 * std::tanh(want[i] / 15);
  }
  LogitsForward(rows, width, vocab, 15.0f, x.array(), w.array(), logits.f32());
  ExpectClose(logits, want);
}

TEST_P(HeadLossTest, SoftcapIsTanhToAFewUlps) {
  constexpr int64_t kN = 4001;
  TestArray z(kN, DType::kF32);
  for (int64_t i = 0; i < kN; ++i) z.Set(i, (static_cast<double>(i) - 2000) * 0.006);
  Doubles want = z.doubles();
  for (double& w : want) w = std::tanh(w);
  SoftcapRow(kN, 1.0f, z.f32());
  for (int64_t i = 0; i < kN; ++i) ASSERT_NEAR(z[i], want[i], 3e-7 * std::abs(want[i]) + 1e-30);
}

}  // namespace
}  // namespace wt::tensor
