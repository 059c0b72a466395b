#include "train/recipe_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/price_recipe.h"

namespace wt::train::recipe_prices_test {
namespace {

Recipe ChipRecipe() {
  Recipe recipe;
  recipe.model.depth = 9;
  recipe.model.width = 1024;
  recipe.model.head_dim = 256;
  recipe.model.kv_heads = 1;
  recipe.model.context = 1024;
  recipe.train.rows_per_core = 8;
  recipe.train.tokens_per_step = 262144;
  return recipe;
}

Work Step(int64_t tokens, int64_t targets = 1) {
  Work work;
  work.reason = ChargeReason::kStep;
  work.tokens = tokens;
  work.targets = targets;
  return work;
}

Work Other(ChargeReason reason) {
  Work work;
  work.reason = reason;
  work.tokens = 2097152;
  return work;
}

class RecipePricesTest : public testing::Test {
 protected:
  WorkPrice Price(const Work& work) {
    const auto price = prices_->PriceOf(work);
    EXPECT_TRUE(price.ok()) << price.status().message();
    return price.ok() ? *price : WorkPrice();
  }
  std::shared_ptr<RecipePrices> prices_ = *RecipePrices::Create(ChipRecipe(), nn::BuildGpt);
};

TEST_F(RecipePricesTest, AStepCostsWhatThePriceSays) {
  const auto price = PriceRecipe(ChipRecipe(), nn::BuildGpt);
  ASSERT_TRUE(price.ok());
  EXPECT_EQ(Price(Step(262144)).seconds, price->seconds);
  EXPECT_EQ(Price(Step(262144)).seconds, Price(Step(262144)).seconds);
}

TEST_F(RecipePricesTest, SmallerBatchesCostLess) {
  EXPECT_LT(Price(Step(65536)).seconds, 0.5 * Price(Step(262144)).seconds);
  // All targets are scored on the same logits.
  EXPECT_GE(Price(Step(262144, 3)).seconds, Price(Step(262144)).seconds);
}

TEST_F(RecipePricesTest, OnlyWhatChangesTheGraphIsCompiledAnew) {
  EXPECT_EQ(Price(Step(65536)).program, Price(Step(262144)).program);
  EXPECT_NE(Price(Step(65536, 2)).program, Price(Step(65536)).program);
  Recipe in_graph = ChipRecipe();
  in_graph.train.accumulate = price::Accumulate::kGraph;
  const auto prices = *RecipePrices::Create(in_graph, nn::BuildGpt);
  EXPECT_NE(prices->PriceOf(Step(65536))->program, prices->PriceOf(Step(262144))->program);
}

TEST_F(RecipePricesTest, TheRestOfARun) {
  Work averaged = Step(262144);
  averaged.updates_average = true;
  EXPECT_GT(Price(averaged).seconds, Price(Step(262144)).seconds);
  EXPECT_GT(Price(Other(ChargeReason::kStartup)).seconds, 10);
  EXPECT_LT(Price(Other(ChargeReason::kSave)).seconds, 5);
  const WorkPrice evaluation = Price(Other(ChargeReason::kEval));
  EXPECT_EQ(evaluation.program, "evaluation");
  EXPECT_GT(evaluation.seconds, 0.5);
  EXPECT_LT(evaluation.seconds, 30);  // 7 to 30 s with compilation in public logs
  // Compiling the step: 450 to 530 s to the end of the first one in public logs.
  EXPECT_NEAR(Price(Step(262144)).compile_seconds, 440, 60);
  EXPECT_EQ(prices_->PriceOf(Other(ChargeReason::kOther)).status().code(), Code::kUnsupported);
}

TEST_F(RecipePricesTest, AMiniaturesStepsCostWhatTheWholeOnesDo) {
  const auto prices = *RecipePrices::Create(ChipRecipe(), nn::BuildGpt, 16);
  EXPECT_EQ(prices->PriceOf(Step(262144 / 16))->seconds, Price(Step(262144)).seconds);
}

TEST(RecipePricesErrors, ABatchThatRanksCannotShare) {
  Recipe recipe = ChipRecipe();
  recipe.train.tokens_per_step = 8192;
  const auto prices = RecipePrices::Create(recipe, nn::BuildGpt);
  EXPECT_EQ(prices.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(prices.status().message(), testing::HasSubstr("machine.ranks"));
}

}  // namespace
}  // namespace wt::train::recipe_prices_test
