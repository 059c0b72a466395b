#include "train/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/test_util.h"

namespace wt::train {
namespace {

std::unique_ptr<Clock> ClockOn(const std::string& path, FakeTime* time) {
  auto ledger = Ledger::Open(path);
  WT_CHECK(ledger.ok(), "{}", ledger.status().message());
  return MakeHostClock(std::move(*ledger), {}, time->source(), time->now);
}

Work Of(ChargeReason reason, const std::string& program) {
  Work work;
  work.reason = reason;
  work.program = program;
  return work;
}

TEST(HostClock, ChargesTheTimeSinceTheLastCharge) {
  TempFolder folder;
  FakeTime time;
  const auto clock = ClockOn(folder / "ledger.jsonl", &time);
  time.now += 2.5;
  EXPECT_DOUBLE_EQ(clock->Charged(), 2.5);
  ASSERT_TRUE(clock->Charge(Of(ChargeReason::kStartup, "")).ok());
  time.now += 1.25;
  ASSERT_TRUE(clock->Charge(Of(ChargeReason::kStep, "program")).ok());
  EXPECT_DOUBLE_EQ(clock->Charged(), 3.75);
  const auto charges = ReadLedger(folder / "ledger.jsonl");
  ASSERT_EQ(charges->size(), 2u);
  EXPECT_EQ(charges->at(0).seconds, 2.5);
  EXPECT_EQ(charges->at(1).total, 3.75);
}

TEST(HostClock, GoesOnFromTheLedgerAfterARestart) {
  TempFolder folder;
  FakeTime time;
  {
    const auto clock = ClockOn(folder / "ledger.jsonl", &time);
    time.now += 10;
    ASSERT_TRUE(clock->Charge(Of(ChargeReason::kStep, "")).ok());
  }
  time.now += 1e6;  // while no process runs nothing is charged
  const auto clock = ClockOn(folder / "ledger.jsonl", &time);
  time.now += 1;
  EXPECT_DOUBLE_EQ(clock->Charged(), 11);
}

TEST(HostClock, TimeBeforeTheClockExistedIsCharged) {
  TempFolder folder;
  FakeTime time;
  const double process_start = time.now;
  time.now += 3;
  auto clock = MakeHostClock(Ledger::Open(folder / "l").value(), {}, time.source(), process_start);
  EXPECT_DOUBLE_EQ(clock->Charged(), 3);
}

TEST(HostClock, NeverGoesBack) {
  TempFolder folder;
  FakeTime time;
  const auto clock = ClockOn(folder / "l", &time);
  time.now += 5;
  ASSERT_TRUE(clock->Charge(Of(ChargeReason::kOther, "")).ok());
  time.now -= 3;
  ASSERT_TRUE(clock->Charge(Of(ChargeReason::kOther, "")).ok());
  EXPECT_DOUBLE_EQ(clock->Charged(), 5);
  time.now += 3;
  EXPECT_DOUBLE_EQ(clock->Charged(), 5);
}

TEST(SystemTime, AdvancesAndPrintsUtc) {
  const TimeSource time = SystemTime();
  const double before = time.monotonic();
  EXPECT_GE(time.monotonic(), before);
  EXPECT_THAT(time.wall_text(),
              testing::MatchesRegex("20[0-9][0-9]-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z"));
}

}  // namespace
}  // namespace wt::train
