#include "train/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt::train {
namespace {

using testing::HasSubstr;

Rules Phase1() {
  const auto rules = Rules::Load("frontier-2026-phase1");
  WT_CHECK(rules.ok(), "{}", rules.status().message());
  return *rules;
}

TEST(RulesTest, TheFirstPhase) {
  const Rules rules = Phase1();
  EXPECT_EQ(rules.budget, 1800);
  EXPECT_EQ(rules.free_steps, 5);
  EXPECT_EQ(rules.startup_cap, 900);
}

TEST(RulesTest, UnknownNamesAreAnsweredWithThoseThereAre) {
  for (const char* name : {"frontier", "../contests/frontier-2026-phase1", ""}) {
    const auto rules = Rules::Load(name);
    EXPECT_EQ(rules.status().code(), Code::kNotFound);
    EXPECT_THAT(rules.status().message(), HasSubstr("frontier-2026-phase1"));
  }
}

TEST(AccountTest, WithoutRulesEverySecondCounts) {
  Account account;
  EXPECT_EQ(account.Counted(7), 7);
  account.Add(ChargeReason::kStep, 3);
  EXPECT_EQ(account.Counted(7), 7);
  EXPECT_EQ(account.TotalAfterLast(ChargeReason::kStep), 3);
  EXPECT_EQ(account.TotalAfterLast(ChargeReason::kSave), 0);
}

TEST(AccountTest, StartUpIsFreeUpToItsCap) {
  Account account(Phase1());
  EXPECT_EQ(account.Counted(850), 0);
  EXPECT_EQ(account.Counted(950), 50);
  account.Add(ChargeReason::kStartup, 400);
  for (int step = 1; step <= 4; ++step) account.Add(ChargeReason::kStep, 400 + step);
  EXPECT_EQ(account.Counted(406), 0);
  account.Add(ChargeReason::kStep, 405);
  EXPECT_EQ(account.Counted(405), 0);
  account.Add(ChargeReason::kStep, 406);
  EXPECT_EQ(account.Counted(406), 1);
  EXPECT_EQ(account.Counted(1000), 595);
}

TEST(AccountTest, WhatStartUpTakesBeyondItsCapCounts) {
  Account account(Phase1());
  for (int step = 1; step <= 5; ++step) account.Add(ChargeReason::kStep, 900 + 2 * step);
  EXPECT_EQ(account.Counted(910), 10);
  EXPECT_EQ(account.Counted(911), 11);
}

}  // namespace
}  // namespace wt::train
