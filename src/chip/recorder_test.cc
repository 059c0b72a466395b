#include "chip/recorder.h"

#include <gtest/gtest.h>

#include "chip/schedule.h"
#include "chip/testing.h"

namespace wt::chip {
namespace {

// A core without values, watched.
class RecorderTest : public testing::Test {
 protected:
  RecorderTest() : bench_(Generation::kGen3, Shapes()), recorder_(bench_.core().shared_sources()) {
    bench_.core().AddObserver(&recorder_);
  }
  static CoreOptions Shapes() {
    CoreOptions options;
    options.values = false;
    return options;
  }
  void Issue(Call& call) {
    const Status status = call.Issue();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void Load(Tensor* to, const AccessPattern& from) {
    Issue(bench_.Call("dma_copy").Op("dst", All(to)).Op("src", from));
  }
  void Product(Tensor* dst, Tensor* weights, Tensor* moving) {
    Issue(bench_.Call("nc_matmul")
              .Op("dst", All(dst))
              .Op("stationary", All(weights))
              .Op("moving", All(moving)));
  }
  const Program& program() { return recorder_.program(); }
  const TimedInstr& last() { return program().instrs.back(); }
  const Access& access(int index) {
    return program().accesses[last().first_access + static_cast<size_t>(index)];
  }

  Bench bench_;
  Recorder recorder_;
};

TEST_F(RecorderTest, ATransposeThatNamesNoEngineGoesWhereItCan) {
  const auto transpose = [&](int64_t side, Memory memory) {
    Tensor* from = bench_.Sbuf("from", side, side, DType::kBF16);
    Tensor* to = bench_.Make(memory, "to", side, side, DType::kBF16);
    Issue(bench_.Call("nc_transpose").Op("dst", All(to)).Op("data", All(from)));
    return last();
  };
  EXPECT_EQ(transpose(128, Memory::kPsum).engine, Engine::kTensor);
  EXPECT_GT(last().interval_ns[0], 0);
  const TimedInstr small = transpose(32, Memory::kSbuf);
  EXPECT_TRUE(small.engines.has(Engine::kVector));
  EXPECT_FALSE(small.engines.has(Engine::kGpSimd));
  EXPECT_GT(small.interval_ns[0], 0);
}

TEST_F(RecorderTest, ALoadOfATileOfAMatrix) {
  Tensor* hbm = bench_.Hbm("a", 1024 * 512, DType::kF32);
  Tensor* tile = bench_.Sbuf("x", 128, 64, DType::kF32);
  AccessPattern from = Pattern(hbm, DType::kF32, {128, 64});
  from.dims[0].step = 512;
  from.offset = 256 * 512 + 64;
  Load(tile, from);
  EXPECT_EQ(last().engine, Engine::kDma);
  const DmaShape& dma = program().dmas[0];
  EXPECT_TRUE(dma.load);
  EXPECT_EQ(dma.bytes, 128 * 256);
  EXPECT_EQ(dma.descriptor_bytes, 256);
  EXPECT_EQ(dma.partitions, 128);
  EXPECT_TRUE(dma.aligned);
  const Access &dst = access(0), &src = access(1);
  EXPECT_TRUE(dst.write && dst.whole && !dst.read);
  EXPECT_EQ(src.pitch, 2048u);
  EXPECT_EQ(src.row_begin, 256);
  EXPECT_EQ(src.row_end, 384);
  EXPECT_EQ(src.byte_begin, 256);
  EXPECT_EQ(src.byte_end, 512);
}

TEST_F(RecorderTest, RowsOffTheBusWidthAreNotAligned) {
  Tensor* hbm = bench_.Hbm("a", 128 * 100, DType::kF32);
  Tensor* tile = bench_.Sbuf("x", 128, 100, DType::kF32);
  Issue(bench_.Call("dma_copy").Op("dst", Matrix(hbm, 128, 100)).Op("src", All(tile)));
  EXPECT_TRUE(program().dmas[0].store);
  EXPECT_FALSE(program().dmas[0].aligned);  // 400 bytes
}

TEST_F(RecorderTest, AnUnnamedEngineHasItsCandidates) {
  Tensor *x = bench_.Sbuf("x", 128, 512, DType::kF32), *p = bench_.Psum("p", 128, 512, DType::kF32);
  Issue(bench_.Call("tensor_copy").Op("dst", All(x)).Op("src", All(p)));
  EXPECT_EQ(last().engine, Engine::kUnknown);
  EXPECT_TRUE(last().engines.has(Engine::kVector));
  EXPECT_TRUE(last().engines.has(Engine::kScalar));
  EXPECT_FALSE(last().engines.has(Engine::kGpSimd));  // cannot reach PSUM
  EXPECT_TRUE(last().flags & kCopies);
  EXPECT_EQ(last().elements, 512u);
  for (const Engine engine : {Engine::kVector, Engine::kScalar}) {
    const auto slot = static_cast<size_t>(CostSlot(engine));
    EXPECT_GT(last().interval_ns[slot], 400);
    EXPECT_LT(last().fixed_ns[slot], 200);
    EXPECT_GE(last().latency_ns[slot], last().interval_ns[slot]);
  }
}

TEST_F(RecorderTest, ANamedEngineIsKept) {
  Tensor *x = bench_.Sbuf("x", 128, 512, DType::kF32), *y = bench_.Sbuf("y", 128, 512, DType::kF32);
  Issue(bench_.Call("tensor_copy")
            .Op("dst", All(x))
            .Op("src", All(y))
            .Name("engine", Engine::kGpSimd));
  EXPECT_EQ(last().engine, Engine::kGpSimd);
}

TEST_F(RecorderTest, ASecondProductAddsToTheFirst) {
  Tensor *w = bench_.Sbuf("w", 128, 128, DType::kBF16),
         *m = bench_.Sbuf("m", 128, 512, DType::kBF16);
  Tensor* p = bench_.Psum("p", 128, 512, DType::kF32);
  Product(p, w, m);
  EXPECT_FALSE(access(0).read);
  EXPECT_TRUE(access(0).whole);
  EXPECT_TRUE(access(1).stationary);
  EXPECT_FLOAT_EQ(last().flops, 2.0f * 128 * 128 * 512);
  EXPECT_FLOAT_EQ(last().array_activity, 1);
  Product(p, w, m);
  EXPECT_TRUE(access(0).read);
  EXPECT_FALSE(access(0).whole);
  EXPECT_TRUE(last().flags & kAccumulates);
}

TEST_F(RecorderTest, TilesOfOneDeclarationShareIt) {
  for (int i = 0; i < 3; ++i) bench_.core().Release(bench_.Sbuf("x", 128, 64, DType::kF32));
  bench_.Sbuf("x", 128, 32, DType::kF32);
  EXPECT_EQ(program().decls.size(), 2u);
  ASSERT_EQ(program().events.size(), 7u);
  EXPECT_TRUE(program().events[1].release);
  EXPECT_EQ(program().events[0].slot, program().events[1].slot);
  EXPECT_NE(program().events[2].slot, program().events[0].slot);  // not again at once
}

TEST_F(RecorderTest, DeclaredDependenciesAreInOrder) {
  Tensor* x = bench_.Sbuf("x", 128, 64, DType::kF32);
  for (int i = 0; i < 4; ++i) {
    Issue(bench_.Call("memset").Op("dst", All(x)).Float("value", 0));
  }
  bench_.core().AddDependency(4, 1);
  bench_.core().AddDependency(3, 2);
  ASSERT_EQ(program().edges.size(), 2u);
  EXPECT_EQ(program().edges[0].to, 2u);
  EXPECT_EQ(program().edges[0].from, 1u);
  EXPECT_EQ(program().edges[1].to, 3u);
  EXPECT_TRUE(last().flags & kFills);
}

TEST_F(RecorderTest, WhatItRecordsCanBeScheduled) {
  Tensor* hbm = bench_.Hbm("a", 128 * 512, DType::kF32);
  Tensor* x = bench_.Sbuf("x", 128, 512, DType::kF32);
  Load(x, Matrix(hbm, 128, 512));
  Issue(
      bench_.Call("activation").Op("dst", All(x)).Name("op", Activation::kExp).Op("data", All(x)));
  Issue(bench_.Call("dma_copy").Op("dst", Matrix(hbm, 128, 512)).Op("src", All(x)));
  const auto result = Schedule(bench_.core().machine(), Policy{}, program());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->num_instrs, 3u);
  EXPECT_EQ(result->load_bytes, 128 * 2048);
  EXPECT_GT(result->latency_ns, 9403 + 1283);
}

TEST(Recorder, SegmentsCountOn) {
  Bench bench;
  std::vector<uint64_t> firsts;
  size_t instrs = 0;
  Recorder recorder(
      bench.core().shared_sources(),
      [&](const Program& segment) {
        firsts.push_back(segment.first);
        instrs += segment.size();
      },
      2);
  bench.core().AddObserver(&recorder);
  Tensor* x = bench.Sbuf("x", 128, 64, DType::kF32);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(bench.Call("memset").Op("dst", All(x)).Float("value", 0).Issue().ok());
  }
  recorder.Flush();
  EXPECT_EQ(firsts, (std::vector<uint64_t>{0, 2, 4}));
  EXPECT_EQ(instrs, 5u);
  EXPECT_EQ(recorder.program().size(), 0u);
}

}  // namespace
}  // namespace wt::chip
