// The clock of a rehearsal: prices in the ledger, compilation once, the same rows after a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "train/budget.h"
#include "train/clock.h"
#include "train/schedule.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

using testing::HasSubstr;

// One second a 100 tokens; a program for every size of step.
class TestPrices : public PriceList {
 public:
  Result<WorkPrice> PriceOf(const Work& work) override {
    switch (work.reason) {
      case ChargeReason::kStep:
        return WorkPrice{seconds_per_token * static_cast<double>(work.tokens),
                         fmt::format("step of {}", work.tokens), 20};
      case ChargeReason::kStartup:
        return WorkPrice{30, "", 0};
      default:
        return WorkPrice{1, "", 0};
    }
  }
  double seconds_per_token = 0.01;
};

Work Step(int64_t tokens) {
  Work work;
  work.reason = ChargeReason::kStep;
  work.tokens = tokens;
  return work;
}

Work Only(ChargeReason reason) {
  Work work;
  work.reason = reason;
  return work;
}

TimeSource NoTime() {
  return {[] { return 0.0; }, [] { return std::string("2026-01-01T00:00:00.000Z"); }};
}

struct Opened {
  std::shared_ptr<TestPrices> prices = std::make_shared<TestPrices>();
  Result<std::unique_ptr<Clock>> clock = Error(Code::kNotFound, "");
};

Opened OpenAt(const std::string& path, double resume_at) {
  Opened opened;
  opened.clock =
      MakePricedClock(Ledger::Open(path).value(), {}, opened.prices, NoTime(), resume_at);
  return opened;
}

TEST(PricedClock, ChargesPricesAndCompilesOnce) {
  TempFolder folder;
  const auto opened = OpenAt(folder / "l", 0);
  Clock& clock = **opened.clock;
  ASSERT_TRUE(clock.Charge(Only(ChargeReason::kStartup)).ok());
  EXPECT_EQ(clock.Expect(Step(100)).value()->counted, 21);
  ASSERT_TRUE(clock.Charge(Step(100)).ok());
  EXPECT_EQ(clock.Expect(Step(100)).value()->counted, 1);
  ASSERT_TRUE(clock.Charge(Step(100)).ok());
  ASSERT_TRUE(clock.Charge(Step(300)).ok());
  EXPECT_EQ(clock.Charged(), 30 + 20 + 1 + 1 + 20 + 3);
  const auto charges = ReadLedger(folder / "l").value();
  std::vector<ChargeReason> reasons;
  for (const Charge& charge : charges) reasons.push_back(charge.reason);
  using enum ChargeReason;
  EXPECT_THAT(reasons, testing::ElementsAre(kStartup, kCompile, kStep, kStep, kCompile, kStep));
  EXPECT_EQ(charges.back().total, clock.Charged());
}

TEST(PricedClock, WorkDoneAgainAfterAKillMeetsItsRows) {
  TempFolder folder;
  {
    const auto opened = OpenAt(folder / "l", 0);
    Clock& clock = **opened.clock;
    for (const Work& work :
         {Only(ChargeReason::kStartup), Step(100), Only(ChargeReason::kSave), Step(100), Step(200)})
      ASSERT_TRUE(clock.Charge(work).ok());
  }
  const auto before = ReadLedger(folder / "l").value();
  const auto opened = OpenAt(folder / "l", 51);  // saved after start-up, compilation and one step
  ASSERT_TRUE(opened.clock.ok()) << opened.clock.status().message();
  Clock& clock = **opened.clock;
  EXPECT_EQ(clock.Charged(), 51);
  ASSERT_TRUE(clock.Resume(Only(ChargeReason::kStartup), Only(ChargeReason::kSave)).ok());
  EXPECT_EQ(clock.Charged(), 52);
  ASSERT_TRUE(clock.Charge(Step(100)).ok());
  ASSERT_TRUE(clock.Charge(Step(200)).ok());
  EXPECT_EQ(ReadLedger(folder / "l").value().size(), before.size());
  ASSERT_TRUE(clock.Charge(Step(200)).ok());
  const auto after = ReadLedger(folder / "l").value();
  EXPECT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.back().total, before.back().total + 2);
}

TEST(PricedClock, PricesThatHaveChangedAreAnError) {
  TempFolder folder;
  ASSERT_TRUE((*OpenAt(folder / "l", 0).clock)->Charge(Step(100)).ok());
  const auto opened = OpenAt(folder / "l", 0);
  opened.prices->seconds_per_token = 0.02;
  const Status status = (*opened.clock)->Charge(Step(100));
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_THAT(status.message(), HasSubstr("row 2 of the ledger charges 1 s for a step"));
}

TEST(PricedClock, ACheckpointOfAnotherRunIsAnError) {
  TempFolder folder;
  ASSERT_TRUE((*OpenAt(folder / "l", 0).clock)->Charge(Step(100)).ok());
  const auto opened = OpenAt(folder / "l", 20.5);
  EXPECT_EQ(opened.clock.status().code(), Code::kCorrupt);
  EXPECT_THAT(opened.clock.status().message(), HasSubstr("20.5 charged seconds"));
}

// A run of 30 minutes on a real chip (shared/data/c40-run-schedule.json), from its step times
// alone: the same number of steps, and the same switches of batch size.
class RealRunPrices : public PriceList {
 public:
  explicit RealRunPrices(const Json& run) : run_(run) {}
  Result<WorkPrice> PriceOf(const Work& work) override {
    if (work.reason == ChargeReason::kStartup)
      return WorkPrice{run_.at("startup_allowance_est_s").get<double>(), "", 0};
    if (work.reason != ChargeReason::kStep) return WorkPrice{0.5, "", 0};
    const int64_t k = work.tokens / run_.at("micro_tokens").get<int64_t>();
    return WorkPrice{run_.at("phase_mean_step_s").at(fmt::format("k{}", k)).get<double>(), "", 0};
  }

 private:
  const Json& run_;
};

TEST(PricedClock, ReplaysARealRun) {
  const char* shared = std::getenv("WINDTUNNEL_SHARED");
  const std::string path =
      std::string(shared ? shared : WT_SOURCE_DIR "/../shared") + "/data/c40-run-schedule.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << path << " is not here";
  const Json run = Json::parse(file);
  const double target = 1793;
  Recipe recipe;
  recipe.train.budget = target;
  recipe.train.tokens_per_step = 262144;
  recipe.clock.reserve = 5;
  for (const auto& [until, k] : {std::pair{13.9, 4}, {107.7, 1}, {358.7, 2}})
    recipe.schedule.batch_phases.push_back({until / (target - 5 - 0.93414), k * 65536.0});

  TempFolder folder;
  auto opened = MakePricedClock(Ledger::Open(folder / "l").value(),
                                Rules::Load("frontier-2026-phase1").value(),
                                std::make_shared<RealRunPrices>(run), NoTime(), 0);
  Clock& clock = **opened;
  BudgetKeeper budget({target, recipe.clock.reserve, 1, 32});
  budget.SaveTakes(clock.Expect(Only(ChargeReason::kSave)).value()->seconds);
  const Schedule schedule(recipe);
  ASSERT_TRUE(clock.Charge(Only(ChargeReason::kStartup)).ok());
  std::map<int64_t, int64_t> steps_by_k;
  std::vector<std::pair<int64_t, double>> switches;
  int64_t steps = 0;
  for (int64_t before = 4;; ++steps) {
    const double horizon = budget.HorizonBefore(clock.Expect(Step(262144)).value()->seconds);
    const auto values = schedule.At(schedule.Progress(steps, clock.Counted(), horizon), steps);
    const Work step = Step(values.tokens_per_step);
    if (!budget.MaySpend(clock.Counted(), clock.Expect(step).value()->counted)) break;
    const int64_t k = step.tokens / 65536;
    if (std::exchange(before, k) != k) switches.emplace_back(steps, clock.Counted());
    ++steps_by_k[k];
    ASSERT_TRUE(clock.Charge(step).ok());
  }
  const auto near = [](double real) { return testing::DoubleNear(real, 0.01 * real); };
  EXPECT_THAT(static_cast<double>(steps), near(run.at("steps").get<double>()));
  for (const auto& [k, count] : run.at("steps_by_k").items())
    EXPECT_THAT(static_cast<double>(steps_by_k[std::stol(k)]), near(count.get<double>()));
  ASSERT_EQ(switches.size(), run.at("accum_switches").size());
  for (size_t i = 0; i < switches.size(); ++i) {
    const Json& real = run.at("accum_switches")[i];
    EXPECT_NEAR(static_cast<double>(switches[i].first), real[0].get<double>(),
                std::max(1.0, 0.01 * real[0].get<double>()));
    EXPECT_NEAR(switches[i].second, real[1].get<double>(),
                std::max(1.0, 0.01 * real[1].get<double>()));
  }
  EXPECT_THAT(clock.Counted(), near(run.at("charged_before_save_s").get<double>()));
}

}  // namespace
}  // namespace wt::train
