// The whole step - forward, backward, AdamW, Muon - against PyTorch in float64:
// golden/make_golden.py builds the same small models from the same recipes, starts them from the
// same formula, and writes what it gets to golden/NAME.json. Nothing of PyTorch is needed to run
// this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "golden/small_model.h"

namespace wt::golden {
namespace {

// Largest difference as a share of the largest expected magnitude.
struct Difference {
  double worst = 0;
  size_t at = 0;
};
Difference Compare(std::span<const float> got, const std::vector<double>& want) {
  double size = 1e-30;
  for (double w : want) size = std::max(size, std::abs(w));
  Difference d;
  for (size_t i = 0; i < want.size(); ++i) {
    const double off = std::abs(got[i] - want[i]) / size;
    if (!(off <= d.worst)) d = {off, i};  // also takes NaN
  }
  return d;
}
void ExpectNear(const std::string& name, std::span<const float> got, const Json& expected,
                double tolerance) {
  const auto want = expected.get<std::vector<double>>();
  ASSERT_EQ(got.size(), want.size()) << name;
  const Difference d = Compare(got, want);
  EXPECT_TRUE(d.worst <= tolerance)
      << name << ": largest difference " << d.worst << " of the largest value, at element " << d.at
      << ": " << got[d.at] << ", expected " << want[d.at];
}

// Sum, Euclidean norm and product with fixed noise, as make_golden.py's summary().
std::vector<double> Summary(std::span<const float> x) {
  double sum = 0, squares = 0, noise = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    squares += static_cast<double>(x[i]) * x[i];
    noise += static_cast<double>(x[i]) * Formula(i, kProbePhase, 0, 1);
  }
  return {sum, std::sqrt(squares), noise};
}

// |got - want| / |want|, Euclidean.
double RelativeError(std::span<const float> got, const std::vector<double>& want) {
  double off = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    off += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(off / size);
}

class GoldenTest : public testing::TestWithParam<const char*> {
 protected:
  std::string name() const { return GetParam(); }
  Json golden_ = LoadGolden(GetParam());

  void ExpectGradients(Model& model, double tolerance) {
    EXPECT_NEAR(model.Gradients(0, 1), golden_["loss"].get<double>(), tolerance);
    for (const auto& [parameter, want] : golden_["gradients"].items()) {
      ExpectNear("gradient of " + parameter, model.Gradient(parameter), want, tolerance);
    }
  }

  // Trains `model` as golden run number `which` was, and compares losses and gradient norms.
  void ExpectSteps(size_t which, Model& model, double tolerance) {
    const Json& run = golden_["runs"][which];
    std::vector<float> losses, norms;
    for (size_t step = 0; step < run["schedule"].size(); ++step) {
      const auto result = model.Step(static_cast<int64_t>(step), run["schedule"][step]);
      losses.push_back(result.loss);
      norms.push_back(result.gradient_norm);
    }
    ExpectNear("losses", losses, run["losses"], tolerance);
    ExpectNear("gradient norms", norms, run["gradient_norms"], tolerance);
  }

  void ExpectFinal(size_t which, Model& model, double tolerance) {
    constexpr const char* kWhat[] = {"sum", "norm", "probe"};
    for (const auto& [parameter, want] : golden_["runs"][which]["final"].items()) {
      const std::span<const float> tensor = model.Tensor(parameter);
      const std::vector<double> got = Summary(tensor);
      const double norm = want[1];
      // n errors of one sign add up to at most sqrt(n) times their norm.
      const double sum = norm * std::sqrt(static_cast<double>(tensor.size()));
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(got[i], want[i].get<double>(), tolerance * (i == 1 ? norm : sum))
            << kWhat[i] << " of " << parameter << " after the steps";
      }
    }
  }

  void ExpectRun(size_t which, double tolerance) {
    Model model(name(), golden_, {MatrixOptimizer(which)});
    ExpectSteps(which, model, tolerance);
    ExpectFinal(which, model, tolerance);
  }

  std::string MatrixOptimizer(size_t which) const {
    return "optimizer.matrix=" + golden_["runs"][which]["matrix"].get<std::string>();
  }
};

// What is stated below leaves room for other orders of summation; on AVX2 logits agree to 4e-7,
// gradients to 2e-6 (a dot product over all of a residual) and everything after ten steps to 3e-7.
TEST_P(GoldenTest, Logits) {
  ExpectNear("logits", Model(name(), golden_).Logits(), golden_["logits"], 2e-6);
}

TEST_P(GoldenTest, LossAndGradients) {
  Model model(name(), golden_);
  ExpectGradients(model, 1e-5);
}

TEST_P(GoldenTest, LossAndGradientsWithRecomputation) {
  Model model(name(), golden_, {}, nn::Recompute::kBlock);
  ExpectGradients(model, 1e-5);
}

TEST_P(GoldenTest, TenStepsOfAdamW) { ExpectRun(0, 2e-6); }
TEST_P(GoldenTest, TenStepsOfMuon) { ExpectRun(1, 2e-6); }

// bf16 keeps 8 bits: one rounding is off by up to 0.4 %, and a gradient passes a dozen of them.
const std::vector<std::string> kBf16 = {"train.precision=bf16", "train.stream_precision=bf16"};

TEST_P(GoldenTest, Bf16LossAndGradientsAreNear) {
  Model model(name(), golden_, kBf16);
  const double loss = golden_["loss"];
  EXPECT_NEAR(model.Gradients(0, 1), loss, 0.01 * loss);
  for (const auto& [parameter, want] : golden_["gradients"].items()) {
    const auto wanted = want.get<std::vector<double>>();
    const double off = RelativeError(model.Gradient(parameter), wanted);
    // A gradient of a single number has no others beside which its roundings average out: the dot
    // products of AVX-512 BF16, which sum pairs first, have been seen 6 % off.
    EXPECT_LT(off, wanted.size() == 1 ? 0.1 : 0.04) << "gradient of " << parameter;
  }
}

TEST_P(GoldenTest, TenStepsOfMuonInBf16AreNear) {
  Model model(name(), golden_, {kBf16[0], kBf16[1], MatrixOptimizer(1)});
  ExpectSteps(1, model, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Recipes, GoldenTest, testing::Values("baseline", "features", "plain"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wt::golden
