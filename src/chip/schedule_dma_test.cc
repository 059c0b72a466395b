// Transfers: engines, queues, descriptors, HBM.
#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

void Set(Machine& machine, ConstantId id, double value) {
  machine.constants[static_cast<size_t>(id)].value = value;
}

TEST(ScheduleDma, SplitsByPartitionsEightToAnEngine) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64);
  b.Load(x, 64, in);  // eight rows of 64 bytes an engine
  const Timeline all = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(all.at[0].start_ns, 100);
  EXPECT_DOUBLE_EQ(all.at[0].end_ns, 612);
  EXPECT_DOUBLE_EQ(all.result.busy_ns[size_t(Engine::kDma)], 512);
  ProgramBuilder c;
  c.Hbm();
  c.Sbuf(64);
  c.Load(1, 64, 0, 32);  // four engines, as long as before
  const Timeline some = RunSchedule(c.program());
  EXPECT_DOUBLE_EQ(some.at[0].end_ns, 612);
  EXPECT_DOUBLE_EQ(some.result.busy_ns[size_t(Engine::kDma)], 128);
  EXPECT_DOUBLE_EQ(some.result.dma_active_ns, 512);
}

TEST(ScheduleDma, TransfersOnOtherPartitionsUseOtherEngines) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64);
  b.Load(x, 64, in, 64);
  b.Load(x, 64, in, 64);
  b.last_dma().start_partition = 64;
  b.program().accesses.back().row_begin = 64;
  b.program().accesses.back().row_end = 128;
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[0].end_ns, 612);
  EXPECT_DOUBLE_EQ(t.at[1].end_ns, 612);
}

TEST(ScheduleDma, EachDescriptorCosts) {
  Machine machine = SmallMachine();
  Set(machine, ConstantId::kDmaDescriptorOverhead, 5);
  Set(machine, ConstantId::kDmaMaxDescriptor, 32);
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64);
  b.Load(x, 64, in);
  const Timeline t = RunSchedule(b.program(), SmallPolicy(), machine);
  EXPECT_DOUBLE_EQ(t.at[0].end_ns - t.at[0].start_ns, 512 + 16 * 5);  // two a row
  EXPECT_EQ(t.result.num_descriptors, 256);
  b.last_dma().descriptor_bytes = 16;
  const Timeline small = RunSchedule(b.program(), SmallPolicy(), machine);
  EXPECT_DOUBLE_EQ(small.at[0].end_ns - small.at[0].start_ns, 512 + 32 * 5);
}

TEST(ScheduleDma, StoresPayForSmallAndUnalignedRows) {
  Machine machine = SmallMachine();
  Set(machine, ConstantId::kDmaElementBytes, 512);
  Set(machine, ConstantId::kDmaSmallWriteFactor, 2);
  Set(machine, ConstantId::kDmaUnalignedStore, 10);
  ProgramBuilder b;
  const auto x = b.Sbuf(512);
  b.Store(b.Hbm(), 512, x);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), SmallPolicy(), machine).at[0].end_ns, 100 + 4096);
  b.last_dma().aligned = false;
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), SmallPolicy(), machine).at[0].end_ns, 100 + 4176);
  b.last_dma().descriptor_bytes = 256;  // two pieces a row, each twice as slow, and unaligned
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), SmallPolicy(), machine).at[0].end_ns, 100 + 8352);
}

TEST(ScheduleDma, QueuesOfAnEngineAreServedInTurn) {
  ProgramBuilder b;
  const auto in = b.Hbm(), out = b.Hbm();
  const auto x = b.Sbuf(128), y = b.Sbuf(64);
  b.Load(x, 128, in);
  b.Store(out, 64, y);  // its own queue: half of the engine until it is done
  const Timeline t = RunSchedule(b.program());
  EXPECT_NEAR(t.at[0].end_ns, 100 + 1024 + 512, 1e-6);
  EXPECT_NEAR(t.at[1].end_ns, 100 + 512 * 3, 1e-6);  // a descriptor of 128 for each of 64
}

TEST(ScheduleDma, AQueueIsServedInOrder) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64), y = b.Sbuf(64);
  b.Load(x, 64, in).Load(y, 64, in);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 612);
  EXPECT_DOUBLE_EQ(t.at[1].end_ns, 1124);
}

TEST(ScheduleDma, IssueTakesTheQueueAndTurnsSpreadIt) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(8), y = b.Sbuf(8);
  b.Load(x, 8, in).Load(y, 8, in);
  Policy policy = SmallPolicy();
  policy.dma_issue_ns = 600;
  const Timeline one = RunSchedule(b.program(), policy);
  EXPECT_DOUBLE_EQ(one.at[0].start_ns, 700);
  EXPECT_DOUBLE_EQ(one.at[1].start_ns, 1300);
  EXPECT_EQ(one.at[1].wait, Wait::kDma);
  EXPECT_EQ(one.at[1].waited_for, 0u);
  policy.dma_queues = 2;
  const Timeline two = RunSchedule(b.program(), policy);
  EXPECT_NEAR(two.at[1].start_ns, 700, 1e-6);
  EXPECT_EQ(two.at[1].queue, 1);
}

TEST(ScheduleDma, EachTransferHasItsOwnIssueWhenThePolicyHasNone) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(8);
  b.Load(x, 8, in);
  b.last().interval_ns[0] = 50;
  Policy policy = SmallPolicy();
  policy.dma_issue_ns = -1;
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), policy).at[0].start_ns, 150);
}

// A store that waits for a slow producer, and a load behind it.
Program StoreThenLoad() {
  ProgramBuilder b;
  const auto in = b.Hbm(), out = b.Hbm();
  const auto x = b.Sbuf(64), y = b.Sbuf(64);
  b.Vector(10000).Writes(x);
  b.Store(out, 64, x);
  b.Load(y, 64, in);
  return b.program();
}

TEST(ScheduleDma, LoadsDoNotQueueBehindStores) {
  EXPECT_DOUBLE_EQ(RunSchedule(StoreThenLoad()).at[2].start_ns, 100);
  Policy policy = SmallPolicy();
  policy.split_load_store_queues = false;
  policy.dma_window = 1;
  const Timeline one = RunSchedule(StoreThenLoad(), policy);
  EXPECT_DOUBLE_EQ(one.at[1].issue_ns, 10000);
  EXPECT_GE(one.at[2].start_ns, 10100);
  policy.dma_window = 2;
  EXPECT_DOUBLE_EQ(RunSchedule(StoreThenLoad(), policy).at[2].start_ns, 100);
}

TEST(ScheduleDma, TheConsumerWaitsForTheNotification) {
  Machine machine = SmallMachine();
  Set(machine, ConstantId::kDmaLoadNotify, 300);
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64);
  b.Load(x, 64, in);
  b.Vector(10).Reads(x);
  const Timeline t = RunSchedule(b.program(), SmallPolicy(), machine);
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 912);
  EXPECT_EQ(t.at[1].waited_for, 0u);
}

// Rows of 256 bytes, as a matrix of 1024-byte pitch in HBM.
void Tile(ProgramBuilder& b, int column) {
  Access& access = b.program().accesses.back();
  access.pitch = 1024;
  access.row_end = 128;
  access.byte_begin = column * 256;
  access.byte_end = access.byte_begin + 256;
}

TEST(ScheduleDma, ReadingBackWaitsForTheStoreAndNotForItsNeighbour) {
  ProgramBuilder b;
  const auto out = b.Hbm();
  const auto x = b.Sbuf(256), y = b.Sbuf(256), z = b.Sbuf(256);
  b.Store(out, 256, x);
  Tile(b, 0);
  for (const int column : {0, 1}) {
    b.Load(column == 0 ? y : z, 256, out);
    std::swap(b.program().accesses.back(), b.program().accesses[b.program().accesses.size() - 2]);
    Tile(b, column);
  }
  const Timeline t = RunSchedule(b.program());
  EXPECT_GE(t.at[1].issue_ns, t.at[0].done_ns);
  EXPECT_EQ(t.at[1].wait, Wait::kData);
  EXPECT_DOUBLE_EQ(t.at[2].issue_ns, 0);
}

TEST(ScheduleDma, EnginesRunDryBeforeALoopOfBadTrips) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  for (int i = 0; i < 18; ++i) {
    const auto x = b.Sbuf(8, 1);
    b.Load(x, 8, in);
    b.last().source = 5;
  }
  Policy policy = SmallPolicy();
  const double plain = RunSchedule(b.program(), policy).result.latency_ns;
  policy.loop_bubble_ns = 1000;
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), policy).result.latency_ns, plain + 18 * 1000);
  Program sixteen = b.program();
  sixteen.instrs.resize(16);
  EXPECT_LT(RunSchedule(sixteen, policy).result.latency_ns, plain);
}

}  // namespace
}  // namespace wt::chip
