// Two cores: what they share and where they meet.
#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

std::array<ScheduleResult, 2> RunPair(const Program& one, const Program& two,
                                      const Machine& machine = SmallMachine()) {
  const auto result = SchedulePair(machine, SmallPolicy(), {&one, &two});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : std::array<ScheduleResult, 2>{};
}

TEST(SchedulePair, CoresMeetAtABarrier) {
  ProgramBuilder one, two;
  one.Vector(100);
  one.GpSimd(5).Flags(kMeets | kBarrier);
  one.Vector(10);
  two.Vector(300);
  two.GpSimd(5).Flags(kMeets | kBarrier);
  two.Vector(10);
  const auto result = RunPair(one.program(), two.program());
  EXPECT_DOUBLE_EQ(result[0].latency_ns, 315);
  EXPECT_DOUBLE_EQ(result[1].latency_ns, 315);
}

TEST(SchedulePair, WaitingForTheOtherCoreIsSaid) {
  ProgramBuilder one, two;
  one.GpSimd(5).Flags(kMeets);
  two.GpSimd(300);
  two.GpSimd(5).Flags(kMeets);
  Scheduled met;
  const Program first = one.program(), second = two.program();
  const ScheduleSink sink = [&](uint64_t, const Scheduled& at) { met = at; };
  ASSERT_TRUE(SchedulePair(SmallMachine(), SmallPolicy(), {&first, &second}, {sink, nullptr}).ok());
  EXPECT_EQ(met.wait, Wait::kCore);
  EXPECT_DOUBLE_EQ(met.start_ns, 300);
}

TEST(SchedulePair, AMeetingThatOneCoreMissesIsAnError) {
  ProgramBuilder one, two;
  one.GpSimd(5).Flags(kMeets);
  two.Vector(10);
  const Program first = one.program(), second = two.program();
  const auto result = SchedulePair(SmallMachine(), SmallPolicy(), {&first, &second});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("never reaches"), std::string::npos);
}

Program OneLoad() {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64);
  b.Load(x, 64, in);
  return b.program();
}

TEST(SchedulePair, HbmBandwidthIsShared) {
  Machine machine = SmallMachine();
  machine.constants[size_t(ConstantId::kHbmPairRate)].value = 16;  // enough for one core
  const auto both = RunPair(OneLoad(), OneLoad(), machine);
  EXPECT_NEAR(both[0].latency_ns, 100 + 2 * 512, 1e-6);
  const auto alone = RunPair(OneLoad(), Program{}, machine);
  EXPECT_NEAR(alone[0].latency_ns, 612, 1e-6);
}

TEST(SchedulePair, AloneNobodyIsWaitedFor) {
  ProgramBuilder b;
  b.GpSimd(5).Flags(kMeets);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).result.latency_ns, 5);
}

}  // namespace
}  // namespace wt::chip
