// The difference of two prices: it adds up, and errors of what is shared are no part of it.
#include "price/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "price/testing.h"

namespace wt::price {
namespace {

PriceChange Deeper() {
  nn::ModelConfig deep = WideConfig();
  deep.depth = 10;
  return ComparePrices(PriceOf(WideConfig(), WideSetup()), PriceOf(deep, WideSetup()), Compiled());
}

TEST(ComparePrices, OpsAddUpToTheDifference) {
  const PriceChange change = Deeper();
  double sum = 0;
  for (const CostChange& op : change.ops) sum += op.seconds();
  EXPECT_NEAR(sum, change.seconds(), 1e-4);
  EXPECT_GT(change.seconds(), 0.05);
  EXPECT_TRUE(change.real());
  for (size_t i = 1; i < change.ops.size(); ++i) {
    EXPECT_GE(std::abs(change.ops[i - 1].seconds()), std::abs(change.ops[i].seconds()));
  }
}

TEST(ComparePrices, SharedErrorsCancel) {
  const PriceChange change = Deeper();
  EXPECT_LT(change.reach, change.own_reach);
  const StepPrice one = PriceOf(WideConfig(), WideSetup());
  const PriceChange none = ComparePrices(one, one, Compiled());
  EXPECT_EQ(none.seconds(), 0);
  EXPECT_EQ(none.moved, 0);
  EXPECT_GT(none.reach, 0);  // equal graphs scatter too
  EXPECT_FALSE(none.real());
  EXPECT_TRUE(none.ops.empty());
}

TEST(ComparePrices, WhatMovesBothWaysIsCountedTwice) {
  nn::ModelConfig shallow = WideConfig();
  shallow.depth = 8;
  shallow.mlp_ratio = 5;
  const PriceChange change =
      ComparePrices(PriceOf(WideConfig(), WideSetup()), PriceOf(shallow, WideSetup()), Compiled());
  EXPECT_GT(change.moved, 2 * std::abs(change.seconds()));
  EXPECT_THAT(ChangeText(change), testing::HasSubstr("ops, the largest difference first"));
  EXPECT_EQ(ChangeJson(change)["ops"].size(), change.ops.size());
}

}  // namespace
}  // namespace wt::price
