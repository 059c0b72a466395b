#include "train/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt::train {
namespace {

using ::testing::ElementsAre;

Recipe With(const std::vector<std::string>& overrides) {
  auto recipe = ParseRecipe("", "test", overrides);
  WT_CHECK(recipe.ok(), "{}", recipe.status().message());
  return *recipe;
}

TEST(Schedule, LearningRateRisesStaysAndFallsToItsFloor) {
  const Schedule s(With({"schedule.warmup=0.1", "schedule.warmdown=0.5", "schedule.final_lr=0.2"}));
  EXPECT_DOUBLE_EQ(s.At(0, 0).lr_scale, 0);
  EXPECT_DOUBLE_EQ(s.At(0.05, 9).lr_scale, 0.5);
  EXPECT_DOUBLE_EQ(s.At(0.1, 9).lr_scale, 1);
  EXPECT_DOUBLE_EQ(s.At(0.5, 9).lr_scale, 1);
  EXPECT_DOUBLE_EQ(s.At(0.75, 9).lr_scale, 0.6);
  EXPECT_DOUBLE_EQ(s.At(1, 9).lr_scale, 0.2);
}

TEST(Schedule, WarmupInStepsTrainsFromTheFirst) {
  const Schedule s(With({"schedule.warmup_steps=4", "schedule.warmdown=0"}));
  EXPECT_DOUBLE_EQ(s.At(0, 0).lr_scale, 0.25);
  EXPECT_DOUBLE_EQ(s.At(0, 3).lr_scale, 1);
  EXPECT_DOUBLE_EQ(s.At(1, 100).lr_scale, 1);
}

TEST(Schedule, WarmupAndWarmdownMayMeet) {
  const Schedule s(With({"schedule.warmup=0.5", "schedule.warmdown=0.5", "schedule.final_lr=0"}));
  EXPECT_DOUBLE_EQ(s.At(0.5, 9).lr_scale, 1);
  EXPECT_DOUBLE_EQ(s.At(1, 9).lr_scale, 0);
}

TEST(Schedule, MomentumWarmsUpInStepsAndEndsWithTheRun) {
  const Schedule s(
      With({"schedule.momentum_start=0.8", "schedule.momentum_warmup=100",
            "optimizer.muon_momentum=0.96", "schedule.momentum_end=0.9", "schedule.warmdown=0.5"}));
  EXPECT_DOUBLE_EQ(s.At(0, 0).muon_momentum, 0.8);
  EXPECT_DOUBLE_EQ(s.At(0.1, 50).muon_momentum, 0.88);
  EXPECT_DOUBLE_EQ(s.At(0.5, 1000).muon_momentum, 0.96);
  EXPECT_DOUBLE_EQ(s.At(0.75, 1000).muon_momentum, 0.93);
  EXPECT_DOUBLE_EQ(s.At(1, 1000).muon_momentum, 0.9);
}

TEST(Schedule, BaselineMomentumIsTheContests) {
  const Schedule s(With({}));
  EXPECT_DOUBLE_EQ(s.At(0, 0).muon_momentum, 0.85);
  EXPECT_DOUBLE_EQ(s.At(0.2, 300).muon_momentum, 0.95);
  EXPECT_DOUBLE_EQ(s.At(1, 3000).muon_momentum, 0.95);
}

TEST(Schedule, WeightDecayFallsAsAsked) {
  EXPECT_EQ(Schedule(With({})).At(1, 9).weight_decay_scale, 1);
  const Schedule linear(With({"schedule.weight_decay=linear"}));
  EXPECT_DOUBLE_EQ(linear.At(0.25, 9).weight_decay_scale, 0.75);
  const Schedule cosine(With({"schedule.weight_decay=cosine"}));
  EXPECT_DOUBLE_EQ(cosine.At(0, 9).weight_decay_scale, 1);
  EXPECT_DOUBLE_EQ(cosine.At(0.5, 9).weight_decay_scale, 0.5);
  EXPECT_NEAR(cosine.At(1, 9).weight_decay_scale, 0, 1e-15);
}

TEST(Schedule, BatchGrowsByPhases) {
  const Schedule s(
      With({"schedule.batch_phases=[[0.1, 8192], [0.5, 16384]]", "train.tokens_per_step=65536"}));
  EXPECT_EQ(s.At(0, 0).tokens_per_step, 8192);
  EXPECT_EQ(s.At(0.1, 9).tokens_per_step, 16384);
  EXPECT_EQ(s.At(0.4999, 9).tokens_per_step, 16384);
  EXPECT_EQ(s.At(0.5, 9).tokens_per_step, 65536);
  EXPECT_EQ(s.At(1, 9).tokens_per_step, 65536);
}

TEST(Schedule, FurtherTargetsFade) {
  const Schedule s(With({"model.predict_tokens=3", "schedule.mtp_fade_end=0.5"}));
  EXPECT_THAT(s.At(0, 0).mtp_weights, ElementsAre(1, 0.5, 0.25));
  EXPECT_THAT(s.At(0.25, 9).mtp_weights, ElementsAre(1, 0.25, 0.125));
  EXPECT_THAT(s.At(0.5, 9).mtp_weights, ElementsAre(1, 0, 0));
  const Schedule own(
      With({"model.predict_tokens=2", "schedule.mtp_weights=[2, 0.5]", "schedule.mtp_fade_end=0"}));
  EXPECT_THAT(own.At(1, 9).mtp_weights, ElementsAre(2, 0.5));
}

TEST(Schedule, ProgressByTimeAndBySteps) {
  const Schedule time(With({}));
  EXPECT_DOUBLE_EQ(time.Progress(10, 14, 56), 0.25);
  EXPECT_DOUBLE_EQ(time.Progress(10, 99, 56), 1);
  EXPECT_DOUBLE_EQ(time.Progress(10, 5, 0), 1);
  const Schedule both(With({"train.steps=20"}));
  EXPECT_DOUBLE_EQ(both.Progress(10, 14, 56), 0.5);
  const Schedule steps(With({"train.steps=20", "schedule.by=steps"}));
  EXPECT_DOUBLE_EQ(steps.Progress(5, 55, 56), 0.25);
}

}  // namespace
}  // namespace wt::train
