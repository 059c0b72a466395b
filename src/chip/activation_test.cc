#include "chip/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace wt::chip::activation_test {
namespace {

// Largest difference from the exact value between low and high, in units of the last place of the
// result, or of `floor` where that is larger.
double MaxUlps(Activation function, double low, double high, double floor) {
  constexpr int64_t kPoints = 200'000;
  std::vector<float> in(kPoints), out(kPoints);
  for (int64_t i = 0; i < kPoints; ++i)
    in[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) / (kPoints - 1));
  ActivationRow(function, in.data(), 1, 0, 0, out.data(), kPoints);
  double worst = 0;
  for (int64_t i = 0; i < kPoints; ++i) {
    const double exact = ActivationExact(function, in[i]);
    const double magnitude = std::max({std::fabs(exact), floor, 0x1p-126});
    const double ulp = std::ldexp(1.0, std::ilogb(magnitude) - 23);
    worst = std::max(worst, std::fabs(out[i] - exact) / ulp);
  }
  return worst;
}

struct Bound {
  Activation function;
  double low, high;
  double floor;  // errors of smaller results count in its units
  double ulps;
};

class ActivationError : public testing::TestWithParam<Bound> {};

TEST_P(ActivationError, StaysBelowItsBound) {
  const Bound& bound = GetParam();
  const double worst = MaxUlps(bound.function, bound.low, bound.high, bound.floor);
  RecordProperty("max_ulps", std::to_string(worst));
  EXPECT_LE(worst, bound.ulps) << ActivationName(bound.function);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, ActivationError,
    testing::Values(
        Bound{Activation::kExp, -103, 88.7, 0, 1.5}, Bound{Activation::kLog, 1e-30, 10, 0, 1.5},
        Bound{Activation::kLog, 0.5, 2, 0, 1.5}, Bound{Activation::kTanh, -10, 10, 0, 2.5},
        Bound{Activation::kSigmoid, -80, 80, 0, 3}, Bound{Activation::kSilu, -80, 80, 0, 3},
        Bound{Activation::kSiluDx, -80, 80, 0.1, 5}, Bound{Activation::kGelu, -12, 12, 1e-30, 6},
        Bound{Activation::kGeluDx, -12, 12, 0.1, 9},
        Bound{Activation::kGeluApprxTanh, -10, 10, 1e-3, 18},
        Bound{Activation::kGeluApprxTanhDx, -10, 10, 0.1, 10},
        Bound{Activation::kGeluApprxSigmoid, -40, 40, 1e-3, 8},
        Bound{Activation::kGeluApprxSigmoidDx, -40, 40, 0.1, 6},
        Bound{Activation::kSoftplus, -80, 80, 0, 3}, Bound{Activation::kMish, -80, 80, 0, 4},
        Bound{Activation::kErf, -6, 6, 0, 2.5}, Bound{Activation::kErfDx, -9, 9, 0, 4},
        Bound{Activation::kSin, -3.1415926, 3.1415926, 0.01, 2},
        Bound{Activation::kSin, -20, 20, 1, 10}, Bound{Activation::kArctan, -1.5707, 1.5707, 0, 2},
        Bound{Activation::kSqrt, 1e-30, 1e10, 0, 0.51},
        Bound{Activation::kRsqrt, 1e-10, 1e10, 0, 1.5},
        Bound{Activation::kReciprocal, -1e5, 1e5, 0, 0.51}));

TEST(Activation, SpecialArguments) {
  const float inf = INFINITY, nan = NAN;
  const auto at = [](Activation function, float x) {
    float out = 0;
    ActivationRow(function, &x, 1, 0, 0.25f, &out, 1);
    return out;
  };
  EXPECT_EQ(at(Activation::kExp, -inf), 0);
  EXPECT_EQ(at(Activation::kExp, inf), inf);
  EXPECT_EQ(at(Activation::kExp, 0), 1);
  EXPECT_EQ(at(Activation::kLog, 0), -inf);
  EXPECT_EQ(at(Activation::kLog, inf), inf);
  EXPECT_EQ(at(Activation::kTanh, -inf), -1);
  EXPECT_EQ(at(Activation::kSigmoid, -inf), 0);
  EXPECT_EQ(at(Activation::kErf, inf), 1);
  EXPECT_EQ(at(Activation::kPrelu, -4), -1);
  EXPECT_EQ(at(Activation::kSign, -0.5f), -1);
  EXPECT_EQ(at(Activation::kGeluApprxTanhDx, 1e30f), 1);
  EXPECT_EQ(at(Activation::kGeluApprxTanhDx, -1e30f), 0);
  EXPECT_NEAR(at(Activation::kSin, 9.0f), 27.65, 0.005);  // the documents' example
  for (int f = 0; f < int(Activation::kCount); ++f)
    EXPECT_TRUE(std::isnan(at(Activation(f), nan))) << ActivationName(Activation(f));
}

TEST(Activation, ScaleAndBiasComeFirst) {
  const float in[] = {1, 2, 3};
  float out[3];
  ActivationRow(Activation::kSquare, in, 2, 1, 0, out, 3);
  EXPECT_THAT(out, testing::ElementsAre(9, 25, 49));
}

}  // namespace
}  // namespace wt::chip::activation_test
