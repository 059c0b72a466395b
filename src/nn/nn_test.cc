// Tests of the graph, the memory plan, recomputation, parameter counts and the errors a model
// author sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "nn/layers.h"
#include "nn/test_program.h"

namespace wt::nn {
namespace {

using testing::HasSubstr;

std::vector<OptimizerGroup> MuonAndAdamW(const StepProgram& program) {
  OptimizerGroup muon, adamw;
  muon.name = "matrix";
  muon.muon = true;
  adamw.name = "rest";
  for (const Parameter& p : program.parameters) {
    OptimizerGroup& group = p.kind == ParameterKind::kMatrix ? muon : adamw;
    group.parameters.push_back(program.value(p.value).name);
  }
  return {muon, adamw};
}

ModelConfig Nano() {
  ModelConfig config;
  config.depth = 3;
  config.width = 32;
  config.head_dim = 16;
  config.context = 24;
  config.vocab_size = 61;
  return config;
}

StepProgram NanoProgram(Recompute recompute = Recompute::kNone) {
  auto made = MakeTrainProgram(Nano(), BuildGpt, MuonAndAdamW, {2, recompute, 1.0});
  WT_CHECK(made.ok(), "{}", made.status().message());
  return made->program;
}

TEST(GptTest, BaselineHasItsPublishedParameterCount) {
  ModelConfig config;
  config.depth = 10;
  config.width = 640;
  config.head_dim = 128;
  Graph graph(DType::kBF16);
  BuildGpt(graph, config, graph.Input(kTokensInput, {1, 1024}, DType::kI32));
  ASSERT_TRUE(graph.status().ok()) << graph.status().message();
  EXPECT_EQ(graph.program().ParameterCount(), 2 * 8192 * 640 + 10 * 12 * 640 * 640 + 2 * 10);
}

TEST(GraphTest, WrongShapesAreNamedWithTheirPlace) {
  Graph g(DType::kF32);
  const ValueId x = g.Input("x", {2, 3, 8}, DType::kF32);
  const ValueId w = g.Parameter("w", {4, 7}, ParameterKind::kMatrix, NormalInit(1));
  g.set_scope("layer3");
  g.Call("linear", {x, w});
  EXPECT_THAT(g.status().message(),
              HasSubstr("layer3: [linear] given x f32[2, 3, 8], w f32[4, 7]"));
}

TEST(GraphTest, AFailedGraphStaysFailedAndNothingCrashes) {
  Graph g(DType::kF32);
  const ValueId x = g.Input("x", {2, 3, 9}, DType::kF32);
  const ValueId bad = g.Call("rope_norm", {x}, {{"head_dim", int64_t{4}}});
  const ValueId worse = Attention(g, bad, bad, x, 4, 3);
  Linear(g, worse, "w", 3, NormalInit(1));
  EXPECT_THAT(g.status().message(), HasSubstr("[rope_norm]"));
}

TEST(GraphTest, ANameTwiceIsAnError) {
  Graph g(DType::kF32);
  g.Parameter("w", {2, 2}, ParameterKind::kMatrix, NormalInit(1));
  g.Parameter("w", {2, 2}, ParameterKind::kMatrix, NormalInit(1));
  EXPECT_THAT(g.status().message(), HasSubstr("'w' is used twice"));
}

TEST(ProgramTest, HashIsStableAndSeesEveryAttribute) {
  EXPECT_EQ(NanoProgram().Hash(), NanoProgram().Hash());
  ModelConfig config = Nano();
  config.qk_gain = 1.44;
  auto other = MakeTrainProgram(config, BuildGpt, MuonAndAdamW, {2, Recompute::kNone, 1.0});
  EXPECT_NE(NanoProgram().Hash(), other->program.Hash());
}

TEST(ProgramTest, EveryParameterNeedsOneGroup) {
  const auto forgetful = [](const StepProgram& program) {
    auto groups = MuonAndAdamW(program);
    groups[1].parameters.pop_back();
    return groups;
  };
  const auto made = MakeTrainProgram(Nano(), BuildGpt, forgetful, {2, Recompute::kNone, 0});
  EXPECT_THAT(made.status().message(), HasSubstr("is in 0 optimizer groups"));
}

// Independent check: two values that are live at the same node, and not one in place of the other,
// do not overlap.
TEST(MemoryPlanTest, LiveValuesNeverOverlap) {
  for (Recompute recompute : {Recompute::kNone, Recompute::kCheap, Recompute::kBlock}) {
    TensorStore store;
    auto executor = Executor::Create(NanoProgram(recompute), &store);
    ASSERT_TRUE(executor.ok());
    const StepProgram& program = (*executor)->program();
    const MemoryPlan& plan = (*executor)->plan();
    std::vector<size_t> last(program.values.size(), 0);
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      for (ValueId id : program.nodes[n].inputs) {
        if (id != kNoValue) last[static_cast<size_t>(id)] = n;
      }
      for (ValueId id : program.nodes[n].outputs) last[static_cast<size_t>(id)] = n;
    }
    for (ValueId id : program.results) last[static_cast<size_t>(id)] = program.nodes.size();
    std::vector<size_t> live;
    for (size_t n = 0; n < program.nodes.size(); ++n) {
      for (ValueId id : program.nodes[n].outputs) {
        const auto v = static_cast<size_t>(id);
        if (plan.offset[v] < 0) continue;
        for (size_t other : live) {
          const bool apart = plan.offset[v] + program.values[v].bytes() <= plan.offset[other] ||
                             plan.offset[other] + program.values[other].bytes() <= plan.offset[v];
          const bool in_place = last[other] == n && plan.offset[v] == plan.offset[other];
          ASSERT_TRUE(apart || in_place)
              << program.values[v].name << " and " << program.values[other].name;
        }
        live.push_back(v);
      }
      std::erase_if(live, [&](size_t v) { return last[v] <= n; });
    }
    EXPECT_GE(plan.arena_bytes, plan.peak_live_bytes);
    EXPECT_LE(static_cast<double>(plan.arena_bytes),
              1.25 * static_cast<double>(plan.peak_live_bytes));
  }
}

std::vector<float> GradientsOf(StepProgram program) {
  Harness harness(std::move(program), 7);
  harness.FillInputs(61, 2);
  harness.Gradients();
  std::vector<float> all;
  for (const Parameter& parameter : harness.executor().program().parameters) {
    const std::string name = harness.executor().program().value(parameter.gradient).name;
    all.insert(all.end(), harness.Tensor(name), harness.Tensor(name) + harness.Size(name));
  }
  return all;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(RecomputeTest, SameGradientsWithLessMemory) {
  const std::vector<float> kept = GradientsOf(NanoProgram());
  EXPECT_TRUE(SameBits(kept, GradientsOf(NanoProgram(Recompute::kCheap))));
  EXPECT_TRUE(SameBits(kept, GradientsOf(NanoProgram(Recompute::kBlock))));
  TensorStore store;
  auto none = Executor::Create(NanoProgram(), &store);
  auto cheap = Executor::Create(NanoProgram(Recompute::kCheap), &store);
  auto block = Executor::Create(NanoProgram(Recompute::kBlock), &store);
  EXPECT_LT((*cheap)->plan().arena_bytes, (*none)->plan().arena_bytes);
  EXPECT_LT((*block)->plan().arena_bytes, (*cheap)->plan().arena_bytes);
}

TEST(ExecutorTest, SameBitsAtAnyThreadCount) {
  SetThreads(1);
  const std::vector<float> one = GradientsOf(NanoProgram());
  for (int threads : {2, 3}) {
    SetThreads(threads);
    EXPECT_TRUE(SameBits(one, GradientsOf(NanoProgram())));
  }
}

TEST(ExecutorTest, MicroBatchesSumTheirGradients) {
  Harness harness(NanoProgram(), 7);
  harness.FillInputs(61, 2);
  harness.Gradients();
  const std::vector<float> once(harness.Tensor("head.grad"),
                                harness.Tensor("head.grad") + harness.Size("head.grad"));
  harness.executor().Run(Phase::kForward);
  harness.executor().Run(Phase::kBackward);
  for (size_t i = 0; i < once.size(); ++i) {
    ASSERT_NEAR(harness.Tensor("head.grad")[i], 2 * once[i], 1e-5 + 1e-4 * std::abs(once[i]));
  }
}

TEST(WorkTest, ProductsOfTheBaselineAddUpToSixTimesTheMatrices) {
  ModelConfig config;
  config.depth = 2;
  config.width = 128;
  config.context = 64;
  config.vocab_size = 256;
  auto made = MakeTrainProgram(config, BuildGpt, MuonAndAdamW, {1, Recompute::kNone, 0});
  ASSERT_TRUE(made.ok());
  double linear = 0;
  for (const Node& node : made->program.nodes) {
    const std::string name = node.op->name;
    if (node.phase == Phase::kOptimizer || name.rfind("attention", 0) == 0) continue;
    linear +=
        node.op->work(OpCall(made->program, node.attrs, node.inputs, node.outputs)).matmul_flops;
  }
  const double matrices = 2 * 12 * 128 * 128 + 256 * 128;
  EXPECT_EQ(linear, 6 * matrices * 64);
}

TEST(TensorStoreTest, ATensorOfAnotherShapeIsRefused) {
  TensorStore store;
  ASSERT_TRUE(store.Prepare(NanoProgram()).ok());
  ModelConfig config = Nano();
  config.vocab_size = 67;
  auto other = MakeTrainProgram(config, BuildGpt, MuonAndAdamW, {2, Recompute::kNone, 0});
  EXPECT_THAT(store.Prepare(other->program).message(), HasSubstr("this program expects"));
}

TEST(ModelConfigTest, MessagesNameTheKey) {
  ModelConfig config;
  config.head_dim = 50;
  EXPECT_THAT(config.Validate().message(), HasSubstr("model.head_dim is 50"));
  EXPECT_THAT(ParseActivation("relu").status().message(), HasSubstr("did you mean relu2?"));
}

}  // namespace
}  // namespace wt::nn
