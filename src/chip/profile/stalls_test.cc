#include "chip/profile/stalls.h"

#include <gtest/gtest.h>

#include "chip/profile/profile_testing.h"

namespace wt::chip {
namespace {

std::vector<Stall> StallsOf(const TimedProgram& timed, Engine engine, double end_ns, double* idle) {
  StallCollector collector;
  // Times become final in any order.
  for (size_t i = timed.times.size(); i-- > 0;) collector.Add(i, timed.times[i]);
  return collector.Finish(timed.program, engine, end_ns, idle);
}

TEST(Stalls, GapsAreAddedUpByCause) {
  TimedProgram timed;
  timed.Add(Engine::kDma, 0, 10, Wait::kNone, kNoInstr, 1);
  timed.Add(Engine::kTensor, 10, 20, Wait::kData, 0, 2);
  timed.Add(Engine::kDma, 20, 25, Wait::kNone, kNoInstr, 1);
  timed.Add(Engine::kTensor, 25, 30, Wait::kData, 2, 2);
  double idle = 0;
  const std::vector<Stall> stalls = StallsOf(timed, Engine::kTensor, 30, &idle);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].waiting_for, Engine::kDma);
  EXPECT_EQ(stalls[0].source, 1u);
  EXPECT_EQ(stalls[0].waiting_source, 2u);
  EXPECT_EQ(stalls[0].ns, 15);
  EXPECT_EQ(stalls[0].count, 2);
  EXPECT_EQ(idle, 15);
}

TEST(Stalls, TimeAfterTheLastInstructionIsIdleToo) {
  TimedProgram timed;
  timed.Add(Engine::kVector, 0, 10);
  double idle = 0;
  const std::vector<Stall> stalls = StallsOf(timed, Engine::kVector, 50, &idle);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].wait, Wait::kNone);
  EXPECT_EQ(idle, 40);
}

TEST(Stalls, OverlappingTransfersLeaveNoGap) {
  TimedProgram timed;
  timed.Add(Engine::kDma, 0, 30);
  timed.Add(Engine::kDma, 5, 20);
  timed.Add(Engine::kDma, 30, 40);
  double idle = 0;
  EXPECT_TRUE(StallsOf(timed, Engine::kDma, 40, &idle).empty());
  EXPECT_EQ(idle, 0);
}

}  // namespace
}  // namespace wt::chip
