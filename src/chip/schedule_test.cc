// One rule a test: what may run at once, what waits for what, and why.
#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

TEST(Schedule, EnginesRunSideBySide) {
  ProgramBuilder b;
  b.Vector(100).Scalar(100).Tensor(100);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.result.latency_ns, 100);
  EXPECT_DOUBLE_EQ(t.result.busy_ns[size_t(Engine::kVector)], 100);
}

TEST(Schedule, AnEngineDoesOneThingAtATime) {
  ProgramBuilder b;
  b.Vector(100).Vector(50);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_EQ(t.at[1].wait, Wait::kNone);
}

TEST(Schedule, AReaderWaitsForTheResultAndTheSemaphore) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Vector(100).Latency(130).Writes(x);
  b.Scalar(10).Reads(x);
  Machine machine = SmallMachine();
  machine.constants[size_t(ConstantId::kSemaphore)].value = 7;
  const Timeline t = RunSchedule(b.program(), SmallPolicy(), machine);
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 137);
  EXPECT_EQ(t.at[1].wait, Wait::kData);
  EXPECT_EQ(t.at[1].waited_for, 0u);
  EXPECT_DOUBLE_EQ(t.at[1].wait_ns, 137);
}

TEST(Schedule, OnItsOwnEngineAReaderWaitsForTheResultAlone) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Vector(100).Latency(130).Writes(x);
  b.Vector(10).Reads(x);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).at[1].start_ns, 130);
}

TEST(Schedule, OtherBytesOfATileAreFree) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Vector(100).Writes(x, 0, 32);
  b.Scalar(10).Reads(x, 32, 64);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).at[1].start_ns, 0);
}

TEST(Schedule, AWriterWaitsForReadersOfTheTile) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Vector(10).Writes(x);
  b.Scalar(200).Reads(x);
  b.GpSimd(10).Writes(x, 0, 32);  // not all of it: no new version
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 210);
  EXPECT_EQ(t.at[2].wait, Wait::kReuse);
  EXPECT_EQ(t.at[2].waited_for, 1u);
}

TEST(Schedule, AFullOverwriteTakesANewBuffer) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Vector(10).Writes(x);
  b.Scalar(200).Reads(x);
  b.Vector(10).Writes(x);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).at[2].start_ns, 10);
  Policy policy = SmallPolicy();
  policy.rename_rewritten_sbuf = false;
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), policy).at[2].start_ns, 210);
}

// A loop of `trips`: Vector makes a tile in 10 ns, Scalar reads it for 100.
Program Loop(int trips, int64_t bytes = 64) {
  ProgramBuilder b;
  for (int i = 0; i < trips; ++i) {
    const auto x = b.Sbuf(bytes, 1);
    b.Vector(10).Writes(x);
    b.Scalar(100).Reads(x);
  }
  return b.program();
}

TEST(Schedule, CopiesOfASiteBoundHowFarAheadALoopRuns) {
  Policy policy = SmallPolicy();
  policy.sbuf_copies = 2;
  const Timeline two = RunSchedule(Loop(4), policy);
  EXPECT_DOUBLE_EQ(two.at[2].start_ns, 10);
  EXPECT_DOUBLE_EQ(two.at[4].start_ns, 110);  // the first buffer is free again
  EXPECT_EQ(two.at[4].wait, Wait::kBuffer);
  EXPECT_EQ(two.at[4].waited_for, 1u);
  policy.sbuf_copies = 3;
  EXPECT_DOUBLE_EQ(RunSchedule(Loop(4), policy).at[4].start_ns, 20);
}

TEST(Schedule, ALoopRunsNoFurtherAheadThanMemory) {
  const Timeline t = RunSchedule(Loop(4, 2048));  // two tiles fill the test machine's SBUF
  EXPECT_DOUBLE_EQ(t.at[4].start_ns, 110);
  EXPECT_FALSE(t.result.oversubscribed);
  EXPECT_EQ(t.result.sbuf_bytes_peak, 2048);
  EXPECT_EQ(t.result.sbuf_bytes_placed, 4096);
}

TEST(Schedule, TilesThatCannotAllLiveAreReported) {
  ProgramBuilder b;
  std::vector<ProgramBuilder::Slot> tiles;
  for (int i = 0; i < 3; ++i) {
    tiles.push_back(b.Sbuf(2048, 1));
    b.Vector(10).Writes(tiles.back());
  }
  for (const auto tile : tiles) b.Scalar(10).Reads(tile);
  EXPECT_TRUE(RunSchedule(b.program()).result.oversubscribed);
}

TEST(Schedule, AnAddressIsKeptAndNotGivenToOthers) {
  ProgramBuilder b;
  TensorDecl fixed;
  fixed.partitions = 128;
  fixed.partition_bytes = 3000;
  fixed.address_byte = 0;
  const auto x = b.Declare(fixed), alias = b.Declare(fixed);
  b.Vector(10).Writes(x);
  b.Scalar(100).Reads(x);
  b.GpSimd(10).Writes(alias);  // the same bytes under another name
  const auto big = b.Sbuf(2000);
  b.Vector(10).Writes(big);  // 1096 bytes are left
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 110);
  EXPECT_TRUE(t.result.oversubscribed);
}

TEST(Schedule, AWindowLetsReadyInstructionsPass) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Scalar(100).Writes(x);
  b.Vector(10).Reads(x);
  b.Vector(10);
  Policy policy = SmallPolicy();
  policy.window = 2;
  EXPECT_DOUBLE_EQ(RunSchedule(b.program(), policy).at[2].start_ns, 0);
  policy.window = 1;
  const Timeline t = RunSchedule(b.program(), policy);
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 110);
}

TEST(Schedule, InOrderBlocksTheOneBehind) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  const auto y = b.Sbuf(64);
  b.Scalar(100).Writes(x);
  b.Vector(10).Reads(x);
  b.Vector(10).Writes(y);
  b.GpSimd(5).Reads(y);
  Policy policy = SmallPolicy();
  policy.window = 1;
  const Timeline t = RunSchedule(b.program(), policy);
  EXPECT_DOUBLE_EQ(t.at[3].start_ns, 120);
  EXPECT_EQ(t.at[3].waited_for, 2u);
}

TEST(Schedule, NoReorderHoldsWithinItsBlock) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64);
  b.Scalar(100).Writes(x);
  b.Vector(10).Reads(x).Group(1);
  b.Vector(10).Group(1);
  b.Vector(10);  // outside: may pass
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[3].start_ns, 0);
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 110);
}

TEST(Schedule, DeclaredEdgesHold) {
  ProgramBuilder b;
  b.Scalar(100);
  b.Vector(10).After(0);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_EQ(t.at[1].wait, Wait::kOrder);
}

TEST(Schedule, ABarrierWaitsForAllAndAllWaitForIt) {
  ProgramBuilder b;
  b.Scalar(100);
  b.Vector(30);
  b.GpSimd(5).Flags(kBarrier);
  b.Vector(10);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 100);
  EXPECT_EQ(t.at[2].wait, Wait::kOrder);
  EXPECT_EQ(t.at[2].waited_for, 0u);
  EXPECT_DOUBLE_EQ(t.at[3].start_ns, 105);
}

TEST(Schedule, CopiesOutOfPsumAreShared) {
  ProgramBuilder b;
  for (int i = 0; i < 4; ++i) {
    const auto x = b.Psum(2048);
    b.Any(100).Reads(x).Flags(kCopies);
  }
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.result.busy_ns[size_t(Engine::kVector)], 200);
  EXPECT_DOUBLE_EQ(t.result.busy_ns[size_t(Engine::kScalar)], 200);
  Policy policy = SmallPolicy();
  policy.balance_engines = false;
  const Timeline vector = RunSchedule(b.program(), policy);
  EXPECT_DOUBLE_EQ(vector.result.busy_ns[size_t(Engine::kVector)], 400);
}

TEST(Schedule, CopiesWithinSbufAreSharedWhenTheyConvert) {
  ProgramBuilder b;
  const auto x = b.Sbuf(64), y = b.Sbuf(64);
  b.Vector(1000);
  b.Any(10).Reads(x).Writes(y).Flags(kCopies);
  b.Any(10).Reads(x).Writes(y).Flags(kCopies);
  b.program().accesses.back().element_bytes = 2;
  const Timeline t = RunSchedule(b.program());
  EXPECT_EQ(t.at[1].engine, Engine::kVector);
  EXPECT_EQ(t.at[2].engine, Engine::kScalar);
}

TEST(Schedule, ArithmeticGoesByItsOperands) {
  ProgramBuilder b;
  const auto in = b.Hbm();
  const auto x = b.Sbuf(64), y = b.Sbuf(64), column = b.Sbuf(4), p = b.Psum(64);
  b.Load(x, 64, in);
  b.Any(10).Reads(x).Writes(y);      // straight from a load
  b.Any(10).Reads(y);                // not
  b.Any(10).Reads(x).Reads(column);  // a vector operand
  b.Any(10).Reads(p).Reads(column);  // likewise, from PSUM
  const Timeline t = RunSchedule(b.program());
  EXPECT_EQ(t.at[1].engine, Engine::kScalar);
  EXPECT_EQ(t.at[2].engine, Engine::kVector);
  EXPECT_EQ(t.at[3].engine, Engine::kVector);
  EXPECT_EQ(t.at[4].engine, Engine::kScalar);
}

TEST(Schedule, MemsetGoesWhereThePolicySays) {
  ProgramBuilder b;
  b.Any(10).Flags(kFills);
  b.last().engines = {Engine::kVector, Engine::kGpSimd};
  EXPECT_EQ(RunSchedule(b.program()).at[0].engine, Engine::kVector);
  Policy policy = SmallPolicy();
  policy.memset_on_gpsimd = true;
  EXPECT_EQ(RunSchedule(b.program(), policy).at[0].engine, Engine::kGpSimd);
}

TEST(Schedule, AnotherTableSetIsLoadedFirst) {
  ProgramBuilder b;
  b.Scalar(10);
  b.last().table_set = 1;
  b.Scalar(10);
  b.last().table_set = 1;
  b.Scalar(10);
  b.last().table_set = 2;
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[0].start_ns, 1000);
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 1010);
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 2020);
  EXPECT_EQ(t.at[2].wait, Wait::kTable);
  EXPECT_DOUBLE_EQ(t.result.table_load_ns, 2000);
}

TEST(Schedule, VectorInAFastModeAndGpSimdTakeTurns) {
  ProgramBuilder b;
  b.Vector(100).Flags(kSharesPort);
  b.GpSimd(50);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_EQ(t.at[1].wait, Wait::kPort);
}

TEST(Schedule, VectorAndScalarTakeTurnsAtAPsumBank) {
  ProgramBuilder b;
  const auto x = b.Psum(1024), y = b.Psum(1024), z = b.Psum(2048);
  b.Vector(100).Writes(x);
  b.Scalar(10).Writes(y);  // the other half of x's bank
  b.Scalar(10).Writes(z);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_EQ(t.at[1].wait, Wait::kPort);
  EXPECT_EQ(t.result.psum_banks_peak, 1);
}

TEST(Schedule, ProductsAddUpWithoutWaiting) {
  ProgramBuilder b;
  const auto x = b.Psum(2048);
  b.Tensor(100).Latency(300).Writes(x);
  b.Tensor(100).Latency(300).Adds(x);
  b.Vector(10).Reads(x);
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 100);
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 400);
}

TEST(Schedule, AProductAddsToAMemsetOnlyWhenItIsThere) {
  ProgramBuilder b;
  const auto x = b.Psum(2048);
  b.Vector(100).Writes(x);
  b.Tensor(100).Adds(x);
  EXPECT_DOUBLE_EQ(RunSchedule(b.program()).at[1].start_ns, 100);
}

TEST(Schedule, WeightsLoadBehindTheProductBefore) {
  ProgramBuilder b;
  const auto w = b.Sbuf(64), v = b.Sbuf(64);
  b.Tensor(100).Weights(w, 30);
  b.Tensor(100).Weights(v, 30);  // hidden
  b.Tensor(10).Weights(w, 30);   // hidden too
  b.Tensor(10).Weights(v, 30);   // behind a short one: shows
  b.Tensor(10).Weights(v, 30);   // there already
  const Timeline t = RunSchedule(b.program());
  EXPECT_DOUBLE_EQ(t.at[0].start_ns, 30);
  EXPECT_DOUBLE_EQ(t.at[1].start_ns, 130);
  EXPECT_DOUBLE_EQ(t.at[2].start_ns, 230);
  EXPECT_DOUBLE_EQ(t.at[3].start_ns, 260);
  EXPECT_DOUBLE_EQ(t.at[4].start_ns, 270);
}

TEST(Schedule, ThePowerLimitSlowsTheFirstWindow) {
  ProgramBuilder b;
  for (int i = 0; i < 10; ++i) b.Tensor(100);
  Machine machine = SmallMachine();
  machine.constants[size_t(ConstantId::kLimiterWindow)].value = 400;
  machine.constants[size_t(ConstantId::kLimiterThreshold)].value = 0.375;
  const Timeline t = RunSchedule(b.program(), SmallPolicy(), machine);
  EXPECT_DOUBLE_EQ(t.at[1].end_ns, 400);
  EXPECT_DOUBLE_EQ(t.at[1].pe_slowdown, 2);
  EXPECT_DOUBLE_EQ(t.at[2].end_ns, 500);
  EXPECT_DOUBLE_EQ(t.result.pe_limited_ns, 400);
}

TEST(Schedule, EnvelopeAndEvidence) {
  ProgramBuilder b;
  b.Vector(100);
  b.last().evidence[0] = Evidence::kMeasured;
  b.Scalar(50);
  b.last().evidence[size_t(CostSlot(Engine::kScalar))] = Evidence::kGuessed;
  Policy policy = SmallPolicy();
  policy.envelope_ns = 1000;
  const Timeline t = RunSchedule(b.program(), policy);
  EXPECT_DOUBLE_EQ(t.result.latency_ns, 1100);
  EXPECT_DOUBLE_EQ(t.result.evidence_ns[size_t(Evidence::kMeasured)], 100);
  EXPECT_DOUBLE_EQ(t.result.evidence_ns[size_t(Evidence::kGuessed)], 50);
}

TEST(Schedule, AnEmptyProgramTakesTheEnvelope) {
  const Timeline t = RunSchedule(Program{});
  EXPECT_DOUBLE_EQ(t.result.latency_ns, 0);
  EXPECT_EQ(t.result.num_instrs, 0u);
}

TEST(Schedule, RefusesAProgramWhoseTensorsWereNeverDeclared) {
  Program program = Loop(1);
  program.accesses[0].slot = 7;
  const auto result = Schedule(SmallMachine(), SmallPolicy(), program);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("no tensor that was declared"), std::string::npos);
}

TEST(Schedule, EveryWaitHasAName) {
  for (int i = 0; i < kNumWaits; ++i) EXPECT_STRNE(WaitName(static_cast<Wait>(i)), "");
}

}  // namespace
}  // namespace wt::chip
