// From a recipe to its price: launch shapes, what does not fit, and the keys that change it.
#include "train/price_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt::train {
namespace {

using ::testing::HasSubstr;

Recipe Baseline(const std::vector<std::string>& overrides = {}) {
  auto recipe = LoadRecipe(WT_SOURCE_DIR "/recipes/baseline.toml", overrides);
  WT_CHECK(recipe.ok(), "{}", recipe.status().message());
  return std::move(*recipe);
}

double StepSeconds(const std::vector<std::string>& overrides) {
  const auto price = PriceRecipe(Baseline(overrides), nn::BuildGpt);
  WT_CHECK(price.ok(), "{}", price.status().message());
  return price->seconds;
}

TEST(PriceRecipe, TakesTheLaunchShape) {
  const auto setup = PriceSetupOf(Baseline({"train.tokens_per_step=262144"}));
  ASSERT_TRUE(setup.ok()) << setup.status().message();
  EXPECT_EQ(setup->micro_batches, 4);
  EXPECT_EQ(PriceSetupOf(Baseline({"machine.ranks=4", "machine.lnc=2"}))->micro_batches, 2);
  const auto uneven = PriceSetupOf(Baseline({"train.tokens_per_step=98304"}));
  EXPECT_EQ(uneven.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(uneven.status().message(), HasSubstr("8 * 8 * 1024 = 65536"));
}

TEST(PriceRecipe, FollowsItsKeys) {
  const double base = StepSeconds({});
  EXPECT_LT(StepSeconds({"optimizer.scalars=stacked"}), base);
  EXPECT_LT(StepSeconds({"loss.fused=true"}), base);
  EXPECT_LT(StepSeconds({"optimizer.sharding=zero2"}), base);
  EXPECT_LT(StepSeconds({"toolchain.opt_level=1"}), base);
  EXPECT_GT(StepSeconds({"train.precision=f32", "train.stream_precision=f32"}), base);
  EXPECT_GT(StepSeconds({"train.recompute=block"}), base);
  EXPECT_GT(StepSeconds({"machine.ranks=4"}), base);
}

TEST(PriceRecipe, SaysWhatWouldFit) {
  const std::vector<std::string> large = {"model.depth=40", "train.rows_per_core=64",
                                          "train.tokens_per_step=524288"};
  const auto price = PriceRecipe(Baseline(large), nn::BuildGpt);
  ASSERT_EQ(price.status().code(), Code::kCapacity);
  const std::string& message = price.status().message();
  EXPECT_THAT(message, HasSubstr("of HBM on a rank that has 12 GiB"));
  EXPECT_THAT(message, HasSubstr("too much, most of it"));
  EXPECT_THAT(message, HasSubstr("train.rows_per_core = "));
  EXPECT_THAT(message, HasSubstr("train.recompute = \"block\""));
  EXPECT_THAT(message, HasSubstr("model.depth = "));
}

TEST(PriceRecipe, RefusesWhatHasNoPrice) {
  const auto kernels = PriceRecipe(Baseline({"kernels.no_op=own.py:f"}), nn::BuildGpt);
  EXPECT_THAT(kernels.status().message(), HasSubstr("no_op"));
  const auto machine = PriceRecipe(Baseline({"machine.name=trn9"}), nn::BuildGpt);
  EXPECT_FALSE(machine.ok());
  EXPECT_THAT(machine.status().message(), HasSubstr("trn9"));
}

}  // namespace
}  // namespace wt::train
