#include "chip/profile/memory_use.h"

#include <gtest/gtest.h>

#include "chip/profile/profile_testing.h"

namespace wt::chip {
namespace {

MemoryUse UseOf(const TimedProgram& timed, Memory memory) {
  MemoryCollector collector(timed.program, memory, 128);
  for (size_t i = 0; i < timed.times.size(); ++i) {
    collector.Add(timed.program.instrs[i], timed.times[i]);
  }
  return collector.Finish();
}

TEST(MemoryUse, TensorsWhoseLivesOverlapAddUp) {
  TimedProgram timed;
  const uint32_t a = timed.Tensor(Memory::kSbuf, 100), b = timed.Tensor(Memory::kSbuf, 40, 64);
  timed.Add(Engine::kVector, 0, 10);
  timed.Touch(a, 0, 100, true);
  timed.Add(Engine::kVector, 5, 20);
  timed.Touch(b, 0, 40, true);
  const MemoryUse use = UseOf(timed, Memory::kSbuf);
  EXPECT_EQ(use.peak, 140);
  EXPECT_EQ(use.peak_by_partition[63], 140);
  EXPECT_EQ(use.peak_by_partition[64], 100);
  EXPECT_EQ(use.timeline.back().bytes, 0);
}

TEST(MemoryUse, TensorsOneAfterTheOtherDoNot) {
  TimedProgram timed;
  const uint32_t a = timed.Tensor(Memory::kSbuf, 100);
  timed.Add(Engine::kVector, 0, 10);
  timed.Touch(a, 0, 100, true);
  const uint32_t b = timed.Tensor(Memory::kSbuf, 40);
  timed.Add(Engine::kVector, 10, 20);
  timed.Touch(b, 0, 40, true);
  EXPECT_EQ(UseOf(timed, Memory::kSbuf).peak, 100);
}

TEST(MemoryUse, ASlotUsedAgainIsAnotherTensor) {
  TimedProgram timed;
  const uint32_t slot = timed.Tensor(Memory::kPsum, 2048);
  timed.Add(Engine::kTensor, 0, 10);
  timed.Touch(slot, 0, 2048, true);
  timed.program.events.push_back({.before = 1, .slot = slot, .decl = 0, .release = true});
  timed.program.events.push_back({.before = 1, .slot = slot, .decl = 0});
  timed.Add(Engine::kTensor, 100, 110);
  timed.Touch(slot, 0, 2048, true);
  const MemoryUse use = UseOf(timed, Memory::kPsum);
  EXPECT_EQ(use.peak, 2048);
  EXPECT_EQ(use.timeline.size(), 4u);  // taken, free, taken, free
}

}  // namespace
}  // namespace wt::chip
