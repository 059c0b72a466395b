// Which law each cost rule chooses and what it counts. The figures are trn2's; measured ones are
// held by tests/instruction_laws_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "chip/cost/copy_law.h"
#include "chip/cost/rules.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {
namespace {

const Machine& Trn2() {
  static const auto machine = Machine::Load("trn2");
  WT_CHECK(machine.ok(), "{}", machine.status().message());
  return **machine;
}

// Operands without bytes.
class CostTest : public testing::Test {
 protected:
  AccessPattern Tile(DType dtype, int64_t elements, Memory memory = Memory::kSbuf,
                     int64_t partitions = 128, int64_t step = 1) {
    tensors_.push_back(std::make_unique<Tensor>());
    tensors_.back()->memory = memory;
    AccessPattern pattern;
    pattern.tensor = tensors_.back().get();
    pattern.dtype = dtype;
    pattern.num_dims = 2;
    pattern.dims[0] = {1, partitions};
    pattern.dims[1] = {step, elements};
    return pattern;
  }
  void Op(int param, const AccessPattern& pattern) {
    Set(param, Arg::kOperand, static_cast<int64_t>(instr_.operands.size()));
    instr_.operands.push_back(pattern);
  }
  void Set(int param, Arg::Kind kind, int64_t value) {
    instr_.args[static_cast<size_t>(param)].kind = kind;
    instr_.args[static_cast<size_t>(param)].i = value;
  }
  Cost By(CostFunction function, Engine engine = Engine::kVector) {
    return function(Trn2(), instr_, engine);
  }
  Instr instr_;

 private:
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

constexpr DType kF = DType::kF32, kB = DType::kBF16, kI = DType::kI32;

double Completion(LawId id, double elements) { return Trn2().law(id).Completion(elements); }

TEST_F(CostTest, CopiesOnVectorChooseByTypesMemoryAndStep) {
  const auto sbuf = [&](DType dtype) { return Tile(dtype, 64); };
  const auto psum = [&](DType dtype) { return Tile(dtype, 64, Memory::kPsum); };
  const auto step2 = Tile(kB, 64, Memory::kSbuf, 128, 2);
  EXPECT_EQ(VectorCopyLaw(sbuf(kF), sbuf(kF)), LawId::kVectorCopyF32);
  EXPECT_EQ(VectorCopyLaw(sbuf(kB), sbuf(DType::kF16)), LawId::kVectorCopy16);
  EXPECT_EQ(VectorCopyLaw(step2, sbuf(kB)), LawId::kVectorCopy16Strided);
  EXPECT_EQ(VectorCopyLaw(sbuf(kF), sbuf(kB)), LawId::kVectorCopyNarrow);
  EXPECT_EQ(VectorCopyLaw(sbuf(kB), sbuf(kF)), LawId::kVectorCopyWiden);
  EXPECT_EQ(VectorCopyLaw(sbuf(kI), sbuf(kF)), LawId::kVectorCopyInt);
  EXPECT_EQ(VectorCopyLaw(psum(kF), sbuf(kB)), LawId::kVectorCopyPsum);
  EXPECT_EQ(VectorCopyLaw(psum(kB), sbuf(kB)), LawId::kVectorCopyPsum16);
  EXPECT_EQ(VectorCopyLaw(psum(kB), psum(kB)), LawId::kVectorCopyPsum);
  EXPECT_EQ(VectorCopyLaw(psum(kB), step2), LawId::kVectorCopyPsum);
}

TEST_F(CostTest, ResultsComeAfterTheEngineIsFree) {
  Op(isa::tensor_copy::kSrc, Tile(kF, 512));
  Op(isa::tensor_copy::kDst, Tile(kF, 512));
  const Cost cost = By(TensorCopy);
  EXPECT_LT(cost.interval_ns, cost.latency_ns);
  EXPECT_NEAR(cost.interval_ns, Trn2().law(LawId::kVectorCopyF32).Interval(512), 1e-9);
  EXPECT_NEAR(cost.latency_ns, Completion(LawId::kVectorCopyF32, 512), 1e-9);
  EXPECT_EQ(cost.evidence, Evidence::kMeasured);
  EXPECT_FALSE(cost.shares_port);
  EXPECT_NEAR(By(TensorCopy, Engine::kGpSimd).latency_ns,
              Completion(LawId::kGpSimdElementwise, 512), 1e-9);
  EXPECT_NEAR(By(TensorCopy, Engine::kScalar).latency_ns, Completion(LawId::kScalarCopy, 512),
              1e-9);
}

TEST_F(CostTest, WideStepsCostUpToTwice) {
  const auto factor = [&](DType dtype, int64_t step) {
    instr_.operands = {Tile(dtype, 64, Memory::kSbuf, 128, step)};
    return StrideFactor(Trn2(), instr_);
  };
  EXPECT_EQ(factor(kF, 16), 1);
  EXPECT_NEAR(factor(kF, 20), 1 + 1.05 / 2, 1e-9);
  EXPECT_NEAR(factor(kF, 24), 2.05, 1e-9);
  EXPECT_NEAR(factor(kF, -500), 2.05, 1e-9);
  EXPECT_EQ(factor(kB, 32), 1);
  EXPECT_EQ(factor(kF, 0), 1);  // a broadcast
}

TEST_F(CostTest, OnlyTheInnermostDimensionOfMoreThanOneElementCounts) {
  AccessPattern pattern = Tile(kF, 8, Memory::kSbuf, 128, 100);
  pattern.num_dims = 3;
  pattern.dims[2] = {1, 1};
  EXPECT_EQ(InnermostStep(pattern), 100);
  pattern.dims[2] = {1, 4};
  EXPECT_EQ(InnermostStep(pattern), 1);
}

TEST_F(CostTest, ZerosOfSixteenBitsAreFilledFaster) {
  Op(isa::memset::kDst, Tile(kB, 512));
  Set(isa::memset::kValue, Arg::kInt, 0);
  EXPECT_NEAR(By(Memset).latency_ns, Completion(LawId::kVectorMemsetZero16, 512), 1e-9);
  Set(isa::memset::kValue, Arg::kInt, 1);
  EXPECT_NEAR(By(Memset).latency_ns, Completion(LawId::kVectorMemset, 512), 1e-9);
}

TEST_F(CostTest, TensorTensorIsFastWithSixteenBitsFromSbuf) {
  using namespace isa::tensor_tensor;
  Op(kDst, Tile(kB, 512));
  Op(kData1, Tile(kB, 512));
  Op(kData2, Tile(kB, 512));
  EXPECT_NEAR(By(TensorTensor).latency_ns, Completion(LawId::kVectorTensorTensor16, 512), 1e-9);
  EXPECT_TRUE(By(TensorTensor).shares_port);
  EXPECT_FALSE(By(TensorTensor, Engine::kGpSimd).shares_port);
  instr_.operands[2] = Tile(kB, 512, Memory::kPsum);
  EXPECT_NEAR(By(TensorTensor).latency_ns, Completion(LawId::kVectorTensorTensor, 512), 1e-9);
}

TEST_F(CostTest, TensorScalarByEngine) {
  using namespace isa::tensor_scalar;
  Op(kDst, Tile(kF, 512));
  Op(kData, Tile(kF, 512));
  Op(kOperand0, Tile(kF, 1));
  Set(kOp0, Arg::kName, static_cast<int64_t>(AluOp::kMultiply));
  EXPECT_NEAR(By(TensorScalar).latency_ns, Completion(LawId::kVectorTensorScalarF32, 512), 1e-9);
  EXPECT_NEAR(By(TensorScalar, Engine::kScalar).latency_ns,
              Completion(LawId::kScalarActivationCopy, 512) + 91, 1e-9);
  Set(kOp0, Arg::kName, static_cast<int64_t>(AluOp::kRsqrt));
  EXPECT_NEAR(By(TensorScalar, Engine::kGpSimd).latency_ns, Completion(LawId::kGpSimdRsqrt, 512),
              1e-9);
}

TEST_F(CostTest, ScansWithATensorToStartFromTakeLonger) {
  using namespace isa::tensor_tensor_scan;
  Op(kDst, Tile(kF, 64));
  Op(kData0, Tile(kF, 64));
  Op(kData1, Tile(kF, 64));
  const double plain = By(TensorTensorScan).interval_ns;
  Op(kInitial, Tile(kF, 1));
  EXPECT_NEAR(By(TensorTensorScan).interval_ns - plain, 60, 1e-9);
}

TEST_F(CostTest, ActivationsAddTensorOperandsAndTheSum) {
  using namespace isa::activation;
  Op(kDst, Tile(kF, 512));
  Op(kData, Tile(kF, 512));
  Set(kOp, Arg::kName, static_cast<int64_t>(chip::Activation::kExp));
  Set(kScale, Arg::kFloat, 0);
  const Cost plain = By(Activation, Engine::kScalar);
  EXPECT_NEAR(plain.latency_ns, Completion(LawId::kScalarActivation, 512), 1e-9);
  EXPECT_GT(plain.table_set, 0);
  Op(kBias, Tile(kF, 1));
  EXPECT_NEAR(By(Activation, Engine::kScalar).interval_ns, plain.interval_ns + 91, 1e-9);
  Op(kReduceRes, Tile(kF, 1));
  const Cost summed = By(Activation, Engine::kScalar);
  EXPECT_NEAR(summed.interval_ns, plain.interval_ns + 91 + 185, 1e-9);
  EXPECT_GT(summed.latency_ns, summed.interval_ns);
}

TEST_F(CostTest, SiluFromPsumHasItsOwnLaw) {
  using namespace isa::activation;
  Op(kDst, Tile(kF, 512));
  Op(kData, Tile(kF, 512, Memory::kPsum));
  Set(kOp, Arg::kName, static_cast<int64_t>(chip::Activation::kSilu));
  EXPECT_NEAR(By(Activation, Engine::kScalar).latency_ns, Completion(LawId::kScalarSiluPsum, 512),
              1e-9);
}

TEST_F(CostTest, MatmulCountsRowsAndSaysHowMuchOfTheArrayWorks) {
  using namespace isa::nc_matmul;
  Op(kDst, Tile(kF, 512, Memory::kPsum, 32));
  Op(kStationary, Tile(kB, 32, Memory::kSbuf, 64));
  Op(kMoving, Tile(kB, 512, Memory::kSbuf, 64));
  const Cost cost = By(NcMatmul, Engine::kTensor);
  EXPECT_NEAR(cost.interval_ns, Trn2().law(LawId::kTensorMatmul).Interval(512), 1e-9);
  EXPECT_GT(cost.latency_ns, cost.interval_ns);
  EXPECT_NEAR(cost.array_activity, 64.0 / 128, 1e-12);  // rows alone
  EXPECT_GT(cost.weight_load_ns, 0);
}

TEST_F(CostTest, MatmulChoosesByTypeAndMode) {
  using namespace isa::nc_matmul;
  const auto interval = [&](DType dtype, bool transpose, PerfMode mode) {
    instr_ = {};
    Op(kDst, Tile(kF, 256, Memory::kPsum));
    Op(kStationary, Tile(dtype, 256));
    Op(kMoving, Tile(dtype, 256));
    Set(kIsTranspose, Arg::kBool, transpose);
    Set(kPerfMode, Arg::kName, static_cast<int64_t>(mode));
    return By(NcMatmul, Engine::kTensor).interval_ns;
  };
  const auto law = [](LawId id, double rows) { return Trn2().law(id).Interval(rows); };
  const auto none = PerfMode::kNone;
  EXPECT_NEAR(interval(kF, false, none), law(LawId::kTensorMatmulF32, 256), 1e-9);
  EXPECT_NEAR(interval(DType::kTF32, false, none), law(LawId::kTensorMatmul, 256), 1e-9);
  EXPECT_NEAR(interval(kF, true, none), law(LawId::kTensorTransposeF32, 256), 1e-9);
  EXPECT_NEAR(interval(kB, true, none), law(LawId::kTensorTranspose, 256), 1e-9);
  EXPECT_NEAR(interval(DType::kF8E4M3, false, PerfMode::kDoubleRow),
              law(LawId::kTensorMatmulDoubleRow, 128), 1e-9);
}

TEST_F(CostTest, TransposesOnTensorCountPartitions) {
  using namespace isa::nc_transpose;
  Op(kDst, Tile(kB, 96, Memory::kPsum, 64));
  Op(kData, Tile(kB, 64, Memory::kSbuf, 96));
  EXPECT_NEAR(By(NcTranspose, Engine::kTensor).interval_ns,
              Trn2().law(LawId::kTensorTranspose).Interval(96), 1e-9);
}

TEST_F(CostTest, TransposesOnVectorCostMoreBetweenQuadrants) {
  using namespace isa::nc_transpose;
  Op(kDst, Tile(kF, 32, Memory::kSbuf, 32));
  Op(kData, Tile(kF, 32, Memory::kSbuf, 32));
  EXPECT_NEAR(By(NcTranspose).interval_ns, 93, 1e-9);
  instr_.operands[0].start_partition = 64;
  EXPECT_NEAR(By(NcTranspose).interval_ns, 234, 1e-9);
}

TEST_F(CostTest, TopkCountsCandidatesAndResults) {
  using namespace isa::topk;
  Op(kValDst, Tile(kB, 8));
  Set(kN, Arg::kInt, 1000);
  const double fixed = Trn2().law(LawId::kGpSimdTopk).fixed_ns;
  EXPECT_NEAR(By(Topk, Engine::kGpSimd).interval_ns, fixed + (4 * 1000 + 8) / 1.2, 1e-9);
}

TEST_F(CostTest, LocalGatherCountsWordsOfAllIndices) {
  using namespace isa::local_gather;
  Op(kSrcBuffer, Tile(kB, 512));
  Op(kIndex, Tile(DType::kU16, 4));
  Set(kNumElemPerIdx, Arg::kInt, 2);
  const Law& law = Trn2().law(LawId::kGpSimdLocalGather);
  // 4 x 16 indices of 2 elements, both in one word, (28 + 4 x 2) / (4 x 2) cycles each.
  EXPECT_NEAR(By(LocalGather, Engine::kGpSimd).interval_ns, law.Interval(64 * 2 * 4.5 / 2), 1e-9);
  Set(kNumValidIndices, Arg::kInt, 10);
  EXPECT_NEAR(By(LocalGather, Engine::kGpSimd).interval_ns, law.Interval(10 * 2 * 4.5 / 2), 1e-9);
}

TEST_F(CostTest, GathersOfManyIndicesStartAgain) {
  Op(isa::nc_n_gather::kDst, Tile(kF, 1025));
  const Law& law = Trn2().law(LawId::kGpSimdGather);
  EXPECT_NEAR(By(NcNGather, Engine::kGpSimd).interval_ns, law.Interval(1025) + 2 * law.fixed_ns,
              1e-9);
}

TEST_F(CostTest, TransfersCostTheirQueueByWhoMakesDescriptors) {
  using namespace isa::dma_copy;
  EXPECT_EQ(By(DmaCopy, Engine::kDma).interval_ns, 600);
  Set(kDgeMode, Arg::kName, static_cast<int64_t>(DgeMode::kNone));
  EXPECT_EQ(By(DmaCopy, Engine::kDma).interval_ns, 50);
  EXPECT_EQ(By(DmaCopy, Engine::kDma).evidence, Evidence::kDerived);
}

TEST_F(CostTest, LongerMessagesBetweenCoresTakeLonger) {
  Op(isa::sendrecv::kSrc, Tile(kF, 8));  // 4 KiB
  EXPECT_EQ(By(Sendrecv, Engine::kDma).interval_ns, 354);
  EXPECT_EQ(By(Sendrecv, Engine::kDma).latency_ns, 354 + 240);
  instr_.operands[0] = Tile(kF, 8 + 153 * 2);
  EXPECT_NEAR(By(Sendrecv, Engine::kGpSimd).interval_ns, 354 + 128 * 4 * 2, 1e-9);
}

TEST(CostRules, EachInstructionHasOneRule) {
  std::set<std::string> names;
  for (const CostRule& rule : CostRules()) {
    EXPECT_TRUE(names.insert(rule.instruction).second) << rule.instruction;
    EXPECT_FALSE(rule.laws.empty() && rule.constants.empty()) << rule.instruction;
  }
  EXPECT_EQ(names.size(), 49u);
  EXPECT_EQ(FindCostRule("no_such"), nullptr);
}

TEST(CostRules, EveryLawIsReadBySomeRule) {
  std::set<LawId> read;
  for (const CostRule& rule : CostRules()) read.insert(rule.laws.begin(), rule.laws.end());
  for (size_t i = 0; i < kNumLaws; ++i) EXPECT_TRUE(read.count(LawId(i))) << LawName(LawId(i));
}

}  // namespace
}  // namespace wt::chip::cost
