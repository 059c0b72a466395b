// Combinations, their prices against single ones, and rows that have none.
#include "train/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "train/price_recipe.h"

namespace wt::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SweepJob BaselineJob(const std::vector<std::string>& axes) {
  SweepJob job;
  job.name = WT_SOURCE_DIR "/recipes/baseline.toml";
  auto text = ReadFile(job.name);
  WT_CHECK(text.ok(), "{}", text.status().message());
  job.text = *text;
  job.model = nn::BuildGpt;
  for (const std::string& axis : axes) {
    auto parsed = ParseSweepAxis(axis);
    WT_CHECK(parsed.ok(), "{}", parsed.status().message());
    job.axes.push_back(*parsed);
  }
  return job;
}

TEST(Sweep, AxesKeepArraysWhole) {
  const auto axis = ParseSweepAxis("model.value_embedding_layers=[],[0, 9],[1]");
  ASSERT_TRUE(axis.ok()) << axis.status().message();
  EXPECT_THAT(axis->values, ElementsAre("[]", "[0, 9]", "[1]"));
  EXPECT_THAT(ParseSweepAxis("model.dept=1").status().message(), HasSubstr("model.depth"));
  EXPECT_FALSE(ParseSweepAxis("model.depth").ok());
  EXPECT_FALSE(ParseSweepAxis("model.depth=").ok());
}

TEST(Sweep, RowsAreWhatSingleRecipesCost) {
  const SweepJob job = BaselineJob({"model.depth=8,9", "model.kv_heads=0,1"});
  const auto rows = RunSweep(job);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_THAT((*rows)[1].values, ElementsAre("8", "1"));
  for (const SweepRow& row : *rows) {
    const auto recipe = ParseRecipe(
        job.text, job.name, {"model.depth=" + row.values[0], "model.kv_heads=" + row.values[1]});
    const auto price = PriceRecipe(*recipe, nn::BuildGpt);
    ASSERT_TRUE(price.ok());
    EXPECT_EQ(row.seconds, price->seconds);
    EXPECT_EQ(row.hbm_peak, price->hbm.peak);
    EXPECT_EQ(row.tokens_in_budget, price->tokens_in_budget);
  }
}

TEST(Sweep, WhatHasNoPriceIsARow) {
  const auto rows = RunSweep(BaselineJob({"model.head_dim=128,96"}));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].error, "");
  EXPECT_THAT((*rows)[1].error, HasSubstr("head_dim"));
}

TEST(Sweep, StopsWhenAsked) {
  SweepJob job = BaselineJob({"model.depth=1,2,3,4,5,6"});
  job.progress = [](int64_t, int64_t) { return false; };
  EXPECT_EQ(RunSweep(job).status().code(), Code::kInterrupted);
}

}  // namespace
}  // namespace wt::train
