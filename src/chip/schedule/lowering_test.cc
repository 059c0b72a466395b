#include "chip/schedule/lowering.h"

#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

Policy Merging(int elements) {
  Policy policy = SmallPolicy();
  policy.merge_elements = elements;
  return policy;
}

// `trips` of: load a tile, double it, store it; `elements` wide, tiles side by side in HBM.
Program NarrowLoop(int trips, uint32_t elements, bool chained = false) {
  ProgramBuilder b;
  const auto in = b.Hbm(), out = b.Hbm(), sum = b.Sbuf(512);
  const int64_t bytes = elements * 4;
  const auto column = [&](int trip, int back) {
    Access& access = b.program().accesses[b.program().accesses.size() - size_t(back)];
    access.pitch = 1 << 12;
    access.row_end = 128;
    access.byte_begin = trip * bytes;
    access.byte_end = access.byte_begin + bytes;
  };
  for (int trip = 0; trip < trips; ++trip) {
    const auto x = b.Sbuf(bytes, 1), y = b.Sbuf(bytes, 2);
    b.Load(x, bytes, in);
    column(trip, 2);
    b.last().source = 10;
    b.last().elements = elements;
    b.Vector(20 + elements).Reads(x).Writes(y);
    if (chained) b.Reads(sum).Writes(sum);
    b.last().fixed_ns[0] = 20;
    b.last().source = 11;
    b.last().elements = elements;
    b.Store(out, bytes, y);
    column(trip, 1);
    b.last().source = 12;
    b.last().elements = elements;
  }
  return b.program();
}

TEST(Lowering, NarrowBodiesMerge) {
  Lowering lowering(SmallMachine(), Merging(64));
  const Program& merged = lowering.Apply(NarrowLoop(8, 16));
  ASSERT_EQ(merged.size(), 6u);  // two times load, work, store
  EXPECT_FLOAT_EQ(merged.instrs[1].interval_ns[0], 20 + 64);
  EXPECT_EQ(merged.instrs[1].elements, 64u);
  EXPECT_EQ(merged.dmas[0].bytes, 128 * 64 * 4);
  EXPECT_EQ(merged.dmas[0].descriptor_bytes, 64 * 4);  // side by side: longer runs
  EXPECT_EQ(merged.instrs[0].num_accesses, 8);
  EXPECT_EQ(lowering.origins()[1], 1u);
  EXPECT_EQ(lowering.origins()[3], 12u);
}

TEST(Lowering, WideBodiesStay) {
  Lowering lowering(SmallMachine(), Merging(64));
  EXPECT_EQ(lowering.Apply(NarrowLoop(8, 64)).size(), 24u);
}

TEST(Lowering, BodiesThatWaitForEachOtherStay) {
  Lowering lowering(SmallMachine(), Merging(64));
  EXPECT_EQ(lowering.Apply(NarrowLoop(8, 16, true)).size(), 24u);
}

TEST(Lowering, ARemainderIsMergedToo) {
  Lowering lowering(SmallMachine(), Merging(64));
  const Program& merged = lowering.Apply(NarrowLoop(6, 16));
  ASSERT_EQ(merged.size(), 6u);
  EXPECT_EQ(merged.instrs[4].elements, 32u);
}

TEST(Lowering, MergedAndScheduledAMergedLoopIsFaster) {
  const Program program = NarrowLoop(32, 16);
  Policy plain = Merging(0), merging = Merging(64);
  EXPECT_LT(RunSchedule(program, merging).result.busy_ns[size_t(Engine::kVector)],
            RunSchedule(program, plain).result.busy_ns[size_t(Engine::kVector)]);
}

TEST(Lowering, TensorsOfAMergedBodyAreThereBeforeIt) {
  Lowering lowering(SmallMachine(), Merging(64));
  const Program& merged = lowering.Apply(NarrowLoop(4, 16));
  for (const TensorEvent& event : merged.events) EXPECT_EQ(event.before, 0u);
}

TEST(Lowering, ARepeatedPartitionBecomesAProduct) {
  Machine machine = SmallMachine();
  Law& law = machine.laws[size_t(LawId::kTensorMatmulF32)];
  law.interval_ns_per_element = law.ns_per_element = 2;
  Policy policy = SmallPolicy();
  policy.broadcast_by_product = true;
  ProgramBuilder b;
  const auto bias = b.Sbuf(64), x = b.Sbuf(64);
  b.Vector(10).Reads(bias, 0, 64, 1).Writes(x);
  Access& read = b.program().accesses[0];
  read.broadcast = true;
  read.element_bytes = 4;
  const Timeline t = RunSchedule(b.program(), policy, machine);
  EXPECT_DOUBLE_EQ(t.result.busy_ns[size_t(Engine::kTensor)], 32);  // 16 elements
  EXPECT_DOUBLE_EQ(t.at[0].start_ns, 32);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).at[0].start_ns, 0);
}

TEST(Lowering, DeclaredEdgesFollowTheirInstructions) {
  Program program = NarrowLoop(4, 16);
  program.edges.push_back({11, 1});
  Lowering lowering(SmallMachine(), Merging(64));
  const Program& merged = lowering.Apply(program);
  ASSERT_EQ(merged.edges.size(), 1u);
  EXPECT_EQ(merged.edges[0].to, 2u);
  EXPECT_EQ(merged.edges[0].from, 1u);
}

TEST(Lowering, ALoweredProgramStaysAsItIs) {
  const Program once = LowerProgram(SmallMachine(), Merging(64), NarrowLoop(6, 16));
  const Program twice = LowerProgram(SmallMachine(), Merging(64), once);
  EXPECT_EQ(twice.size(), once.size());
  EXPECT_EQ(RunSchedule(once, Merging(64)).result.latency_ns,
            RunSchedule(NarrowLoop(6, 16), Merging(64)).result.latency_ns);
}

TEST(Lowering, WithoutReasonNothingChanges) {
  EXPECT_FALSE(Lowering(SmallMachine(), SmallPolicy()).active());
}

}  // namespace
}  // namespace wt::chip
