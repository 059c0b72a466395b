#include "tensor/adamw.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr int64_t kAdamWSize = 43;

class AdamWTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) DisableVectorTargets();
  }
  void TearDown() override { EnableVectorTargets(); }
};
INSTANTIATE_TEST_SUITE_P(Kernels, AdamWTest, testing::Bool());

TEST_P(AdamWTest, FollowsTheFormulaForSeveralSteps) {
  AdamWOptions o{0.03f, 0.8f, 0.95f, 1e-6f, 0.1f, 0.5f, 1};
  TestArray p = TestArray::Random(kAdamWSize, DType::kF32, 1);
  TestArray m(kAdamWSize, DType::kF32), v(kAdamWSize, DType::kF32);
  Doubles wp = p.doubles(), wm(kAdamWSize), wv(kAdamWSize);
  for (; o.step <= 5; ++o.step) {
    TestArray grad = TestArray::Random(kAdamWSize, DType::kF32, 10 + o.step);
    AdamWStep(kAdamWSize, o, grad.f32(), p.f32(), m.f32(), v.f32());
    for (int64_t i = 0; i < kAdamWSize; ++i) {
      const double g = 0.5 * grad[i], t = static_cast<double>(o.step);
      wm[i] = o.beta1 * wm[i] + (1.0 - o.beta1) * g;
      wv[i] = o.beta2 * wv[i] + (1.0 - o.beta2) * g * g;
      const double m_hat = wm[i] / (1 - std::pow(o.beta1, t));
      const double v_hat = wv[i] / (1 - std::pow(o.beta2, t));
      wp[i] = wp[i] * (1 - o.lr * o.weight_decay) - o.lr * m_hat / (std::sqrt(v_hat) + o.eps);
    }
  }
  ExpectClose(p, wp);
  ExpectClose(m, wm);
  ExpectClose(v, wv);
}

TEST_P(AdamWTest, AveragesAndSums) {
  TestArray p = TestArray::Random(kAdamWSize, DType::kF32, 1);
  TestArray ema = TestArray::Random(kAdamWSize, DType::kF32, 2), out(kAdamWSize, DType::kF32);
  Doubles want_ema(kAdamWSize), want_blend(kAdamWSize);
  for (int64_t i = 0; i < kAdamWSize; ++i) {
    want_ema[i] = 0.9 * ema[i] + 0.1 * p[i];
    want_blend[i] = 0.25 * want_ema[i] + 0.75 * p[i];
  }
  EmaUpdate(kAdamWSize, 0.9f, p.f32(), ema.f32());
  ExpectClose(ema, want_ema);
  Blend(kAdamWSize, 0.75f, ema.f32(), p.f32(), out.f32());
  ExpectClose(out, want_blend);
  const Doubles x = p.doubles();
  EXPECT_NEAR(SumOfSquares(kAdamWSize, p.array()), Inner(x, x), 1e-5);
}

}  // namespace
}  // namespace wt::tensor
