#include "train/budget.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace wt::train {
namespace {

constexpr int64_t kTokens = 8192;

TEST(BudgetKeeper, KeepsRoomForAStepAndTheSave) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  keeper.StepTook(1.0, kTokens);
  EXPECT_TRUE(keeper.MayStartStep(56.0, kTokens));
  EXPECT_FALSE(keeper.MayStartStep(56.1, kTokens));
  EXPECT_DOUBLE_EQ(keeper.Horizon(kTokens), 56);
}

TEST(BudgetKeeper, AllowanceFollowsTheBatchSize) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  keeper.StepTook(1.0, kTokens);
  EXPECT_DOUBLE_EQ(keeper.StepAllowance(4 * kTokens), 8);
  EXPECT_FALSE(keeper.MayStartStep(51, 4 * kTokens));
}

TEST(BudgetKeeper, ForgetsAHiccupAfterTheWindow) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  keeper.StepTook(10.0, kTokens);
  for (int i = 0; i < 3; ++i) keeper.StepTook(1.0, kTokens);
  EXPECT_DOUBLE_EQ(keeper.StepAllowance(kTokens), 20);
  keeper.StepTook(1.0, kTokens);
  EXPECT_DOUBLE_EQ(keeper.StepAllowance(kTokens), 2);
}

TEST(BudgetKeeper, SavesAreGuessedThenMeasured) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  EXPECT_DOUBLE_EQ(keeper.SaveAllowance(), 2);
  keeper.ExpectSaveOf(500e6);
  EXPECT_DOUBLE_EQ(keeper.SaveAllowance(), 5);
  keeper.SaveTook(0.5);
  EXPECT_DOUBLE_EQ(keeper.SaveAllowance(), 2);
  keeper.SaveTook(4);
  EXPECT_DOUBLE_EQ(keeper.SaveAllowance(), 8);
}

TEST(BudgetKeeper, FirstStepMayStartOnlyBeforeTheSave) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  EXPECT_TRUE(keeper.MayStartStep(57.9, kTokens));
  EXPECT_FALSE(keeper.MayStartStep(58.1, kTokens));
}

// A machine of one random speed, some of them slowing down more and more. Now and then a step takes
// up to `jump` times as long; or, with `stall_from` set, all do once so much time has gone.
struct Machine {
  Philox random;
  double step_seconds, save_seconds, drift, jump;
  double stall_from = -1;

  Machine(uint64_t seed, double jump_factor) : random(seed, 7), jump(jump_factor) {
    step_seconds = 0.05 + random.NextUniform();
    save_seconds = 0.2 + 2.0 * random.NextUniform();
    drift = random.NextBelow(3) == 0 ? 1.002 + 0.004 * random.NextUniform() : 1.0;
  }
  double Slowdown(double charged) {
    step_seconds *= drift;
    if (stall_from >= 0) return charged >= stall_from ? jump : 1;
    return random.NextBelow(5) == 0 ? 1 + (jump - 1) * random.NextUniform() : 1;
  }
};

struct Played {
  double end;
  int64_t steps;
};

Played Play(Machine machine, const BudgetOptions& options, int micro_batches, bool may_abandon) {
  BudgetKeeper keeper(options);
  double charged = 3 * machine.random.NextUniform();  // start-up
  Played played = {0, 0};
  keeper.SaveTook(machine.save_seconds);
  charged += machine.save_seconds;
  while (keeper.MayStartStep(charged, kTokens)) {
    const double slowdown = machine.Slowdown(charged), start = charged;
    bool abandoned = false;
    for (int i = 0; i < micro_batches && !abandoned; ++i) {
      charged += machine.step_seconds * slowdown / micro_batches;
      const int64_t left = kTokens * (micro_batches - i - 1) / micro_batches;
      abandoned = may_abandon && left > 0 && keeper.MustAbandon(charged, left);
    }
    if (abandoned) break;
    keeper.StepTook(charged - start, kTokens);
    ++played.steps;
  }
  played.end = charged + machine.save_seconds * (1 + machine.random.NextUniform());
  return played;
}

TEST(BudgetKeeper, NeverExceededIn50RunsWithSlowSteps) {
  const BudgetOptions options{.budget = 60, .reserve = 2, .step_margin = 2, .window = 32};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Played played = Play(Machine(seed, 1.9), options, 1, false);
    EXPECT_LE(played.end, options.budget) << "seed " << seed;
    EXPECT_GE(played.end, 0.75 * options.budget) << "seed " << seed << ": stopped far too early";
    EXPECT_GT(played.steps, 10);
  }
}

// Steps suddenly 9 times as slow are beyond the margin; asking between micro-batches holds.
TEST(BudgetKeeper, MicroBatchChecksHoldAgainstSuddenStalls) {
  const BudgetOptions options{.budget = 60, .reserve = 2, .step_margin = 2, .window = 32};
  int late_without = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Machine machine(seed, 9);
    machine.stall_from = 48 + 10 * machine.random.NextUniform();
    EXPECT_LE(Play(machine, options, 16, true).end, options.budget) << "seed " << seed;
    late_without += Play(machine, options, 16, false).end > options.budget;
  }
  EXPECT_GT(late_without, 0);  // else the machine is too tame to show anything
}

TEST(BudgetKeeper, AStepWithinItsAllowanceIsNeverAbandoned) {
  BudgetKeeper keeper({.budget = 60, .reserve = 2, .step_margin = 2, .window = 4});
  keeper.StepTook(1.0, kTokens);
  const double start = 56;
  for (int64_t done = 0; done <= 8; ++done) {
    const double charged = start + 2.0 * static_cast<double>(done) / 8;  // as slow as allowed
    EXPECT_FALSE(keeper.MustAbandon(charged - 1e-9, kTokens * (8 - done) / 8)) << done;
  }
  EXPECT_TRUE(keeper.MustAbandon(start + 1.9, kTokens / 2));
}

}  // namespace
}  // namespace wt::train
