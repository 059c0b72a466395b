#include "chip/schedule/load_reuse.h"

#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

Policy Reusing(double share) {
  Policy policy = SmallPolicy();
  policy.load_reuse_share = share;
  return policy;
}

// `trips` times: load box `trip % boxes` of 512 bytes a row, use it.
ProgramBuilder LoadAgain(int trips, int boxes) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  for (int trip = 0; trip < trips; ++trip) {
    const auto x = b.Sbuf(512, 1);
    b.Load(x, 512, in);
    Access& box = b.program().accesses[b.program().accesses.size() - 2];
    box.byte_begin = int64_t{512} * (trip % boxes);
    box.byte_end = box.byte_begin + 512;
    b.Vector(10).Reads(x);
    b.Release(x);
  }
  return b;
}

size_t Loads(const Program& program) {
  return static_cast<size_t>(
      std::count_if(program.instrs.begin(), program.instrs.end(),
                    [](const TimedInstr& instr) { return instr.engine == Engine::kDma; }));
}

TEST(LoadReuse, TheSameBoxIsLoadedOnce) {
  ProgramBuilder b = LoadAgain(6, 2);
  LoadReuse reuse(SmallMachine(), Reusing(0.5));  // 2048 bytes: four tiles
  const Program& program = reuse.Apply(b.program());
  EXPECT_EQ(Loads(program), 2u);
  EXPECT_EQ(program.size(), 8u);
  EXPECT_EQ(reuse.origins()[4], 5u);
}

TEST(LoadReuse, WhatDoesNotFitIsLoadedAgain) {
  ProgramBuilder b = LoadAgain(12, 6);
  LoadReuse reuse(SmallMachine(), Reusing(0.5));
  EXPECT_EQ(Loads(reuse.Apply(b.program())), 12u);  // the oldest goes first
}

TEST(LoadReuse, ATileThatIsChangedIsLoadedAgain) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(512);
  for (int i = 0; i < 2; ++i) {
    b.Load(x, 512, in);
    b.Vector(10).Reads(x).Writes(x, 0, 256);
  }
  LoadReuse reuse(SmallMachine(), Reusing(0.5));
  EXPECT_EQ(Loads(reuse.Apply(b.program())), 2u);
}

TEST(LoadReuse, HbmThatIsWrittenIsLoadedAgain) {
  ProgramBuilder b = LoadAgain(2, 1);
  b.Store(0, 512, b.Sbuf(512));
  LoadReuse reuse(SmallMachine(), Reusing(0.5));
  EXPECT_EQ(Loads(reuse.Apply(b.program())), 3u);
}

TEST(LoadReuse, SegmentsRemember) {
  LoadReuse reuse(SmallMachine(), Reusing(0.5));
  ProgramBuilder b = LoadAgain(2, 1);
  EXPECT_EQ(Loads(reuse.Apply(b.program())), 1u);
  Program next = b.program();
  next.first = next.size();
  for (TensorEvent& event : next.events) event.before += next.first;
  std::erase_if(next.events, [](const TensorEvent& event) { return event.slot == 0; });
  EXPECT_EQ(Loads(reuse.Apply(next)), 0u);
}

TEST(LoadReuse, ScheduledItMovesFewerBytes) {
  ProgramBuilder b = LoadAgain(20, 2);
  const Timeline plain = RunSchedule(b.program()), reusing = RunSchedule(b.program(), Reusing(0.5));
  EXPECT_EQ(plain.result.load_bytes, 20 * 128 * 512);
  EXPECT_EQ(reusing.result.load_bytes, 2 * 128 * 512);
  EXPECT_LT(reusing.result.latency_ns, plain.result.latency_ns);
  EXPECT_FALSE(reusing.result.oversubscribed);
}

TEST(LoadReuse, WithoutAShareItIsOff) {
  EXPECT_FALSE(LoadReuse(SmallMachine(), SmallPolicy()).active());
}

}  // namespace
}  // namespace wt::chip
