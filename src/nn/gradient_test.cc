// Every op's derivative rule, and whole models, against central differences along random directions
// in fp32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nn/layers.h"
#include "nn/test_program.h"

namespace wt::nn {
namespace {

constexpr int64_t kBatch = 2, kTime = 6, kVocab = 13;

// Makes the value under test from up to three inputs [batch, time, width].
using BuildFn = std::function<ValueId(Graph&, const std::vector<ValueId>& x)>;

struct Case {
  const char* name;
  std::vector<int64_t> widths;  // of the inputs
  BuildFn build;
};

// Inputs are rows of tables looked up by a fixed list of ids, so that activations have gradients to
// check; the loss is a cross entropy over the op's result.
StepProgram ProgramOf(const Case& test) {
  Graph g(DType::kF32);
  const ValueId tokens = g.Input(kTokensInput, {kBatch, kTime}, DType::kI32);
  const ValueId targets = g.Input(kTargetsInput, {kBatch, kTime}, DType::kI32);
  const ValueId weights = g.Input(kLossWeightsInput, {1}, DType::kF32);
  std::vector<ValueId> x;
  for (size_t i = 0; i < test.widths.size(); ++i) {
    const ValueId table = g.Parameter(fmt::format("input{}", i), {kVocab, test.widths[i]},
                                      ParameterKind::kEmbedding, NormalInit(1));
    x.push_back(Embedding(g, tokens, table, DType::kF32));
  }
  const ValueId y = test.build(g, x);
  const ValueId head =
      g.Parameter("head", {kVocab, g.shape(y).back()}, ParameterKind::kHead, NormalInit(1));
  const auto loss = g.CallAll("head_loss", {y, head, targets, weights}, {{"softcap", 4.0}});
  g.program().results = {loss[0]};
  const Status status = Differentiate(&g, loss[0]);
  WT_CHECK(status.ok(), "{}", status.message());
  return g.program();
}

// d loss / d direction, for a random direction of unit norm in one parameter.
void CheckParameter(Harness& harness, const std::string& name, uint64_t seed, double tolerance) {
  const int64_t n = harness.Size(name);
  std::vector<float> direction(static_cast<size_t>(n)),
      start(harness.Tensor(name), harness.Tensor(name) + n);
  Philox random(seed, 1);
  double norm = 0;
  for (float& d : direction)
    d = random.NextNormal(), norm += static_cast<double>(d) * static_cast<double>(d);
  norm = std::sqrt(norm);
  harness.Gradients();
  double analytic = 0, gradient_norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double gradient = static_cast<double>(harness.Tensor(name + ".grad")[i]);
    analytic += gradient * static_cast<double>(direction[static_cast<size_t>(i)]) / norm;
    gradient_norm += gradient * gradient;
  }
  const double step = 2e-2;
  const auto loss_at = [&](double t) {
    for (int64_t i = 0; i < n; ++i) {
      harness.Tensor(name)[i] = start[static_cast<size_t>(i)] +
                                static_cast<float>(t / norm) * direction[static_cast<size_t>(i)];
    }
    return static_cast<double>(harness.Loss());
  };
  // Fourth-order central difference: the step may be large enough for fp32 losses.
  const double numeric =
      (8 * (loss_at(step) - loss_at(-step)) - (loss_at(2 * step) - loss_at(-2 * step))) /
      (12 * step);
  loss_at(0);
  EXPECT_NEAR(analytic, numeric, tolerance * (std::sqrt(gradient_norm) + 1e-2)) << name;
  EXPECT_GT(gradient_norm, 0) << name << " has no gradient at all";
}

const RopeOptions kRope = {4, 100, true, 1.3, 1e-6};

std::vector<Case> Cases() {
  const auto scalar = [](Graph& g, const char* name, int64_t n) {
    return g.Parameter(name, {n}, ParameterKind::kScalar, NormalInit(1));
  };
  const auto activation = [](Activation kind) {
    return [kind](Graph& g, const std::vector<ValueId>& x) {
      return g.Call("activation", {x[0]}, {{"kind", static_cast<int64_t>(kind)}, {"slope", 0.35}});
    };
  };
  return {
      {"embedding", {5}, [](Graph&, const auto& x) { return x[0]; }},
      {"linear",
       {5},
       [](Graph& g, const auto& x) { return Linear(g, x[0], "w", 7, NormalInit(1)); }},
      {"linear_shared_input",
       {5},
       [](Graph& g, const auto& x) {
         return Add(g, Linear(g, x[0], "a", 5, NormalInit(1)),
                    Linear(g, x[0], "b", 5, NormalInit(1)));
       }},
      {"add_and_reuse",
       {5},
       [](Graph& g, const auto& x) { return Add(g, x[0], Add(g, x[0], x[0])); }},
      {"rms_norm", {6}, [](Graph& g, const auto& x) { return RmsNorm(g, x[0], 1e-6); }},
      {"rms_norm_residual",
       {6},
       [](Graph& g, const auto& x) { return Add(g, x[0], RmsNorm(g, x[0], 1e-6)); }},
      {"mix",
       {5, 5},
       [&](Graph& g, const auto& x) {
         return Mix(g, x[0], x[1], scalar(g, "r", 3), scalar(g, "z", 3), 1);
       }},
      {"mix_with_itself",
       {5},
       [&](Graph& g, const auto& x) {
         return Mix(g, x[0], x[0], scalar(g, "r", 1), scalar(g, "z", 1), 0);
       }},
      {"rope_norm", {8}, [](Graph& g, const auto& x) { return RopeNorm(g, x[0], kRope); }},
      {"rope_plain",
       {8},
       [](Graph& g, const auto& x) {
         return RopeNorm(g, x[0], {4, 100, false, 1, 1e-6});
       }},
      {"attention",
       {8, 8, 8},
       [](Graph& g, const auto& x) { return Attention(g, x[0], x[1], x[2], 4, kTime); }},
      {"attention_gqa_window",
       {8, 4, 4},
       [](Graph& g, const auto& x) { return Attention(g, x[0], x[1], x[2], 4, 2); }},
      {"relu2", {6}, activation(Activation::kRelu2)},
      {"leaky_relu2", {6}, activation(Activation::kLeakyRelu2)},
      {"gelu", {6}, activation(Activation::kGelu)},
      {"silu", {6}, activation(Activation::kSilu)},
      {"swiglu",
       {6, 6},
       [](Graph& g, const auto& x) {
         return g.Call("swiglu", {x[0], x[1]});
       }},
      {"causal_conv",
       {5},
       [](Graph& g, const auto& x) {
         return g.Call("causal_conv",
                       {x[0], g.Parameter("taps", {3, 5}, ParameterKind::kScalar, NormalInit(1))});
       }},
      {"smear",
       {5, 1},
       [&](Graph& g, const auto& x) {
         return g.Call("smear", {x[0], x[1], scalar(g, "lambda", 1)});
       }},
      {"value_gate",
       {8, 2, 8},
       [](Graph& g, const auto& x) {
         return g.Call("value_gate", {x[0], x[1], x[2]}, {{"scale", 3.0}});
       }},
      {"slice_columns",
       {6},
       [](Graph& g, const auto& x) {
         const ValueId head = g.Call("slice_columns", {x[0]}, {{"count", int64_t{2}}});
         return Add(g, x[0], Linear(g, head, "w", 6, NormalInit(1)));
       }},
      // To fp32, since rounding to bf16 has no slope to measure.
      {"cast",
       {6},
       [](Graph& g, const auto& x) {
         return g.Call("cast", {x[0]}, {{"dtype", static_cast<int64_t>(DType::kF32)}});
       }},
  };
}

class OpGradient : public testing::TestWithParam<Case> {};

TEST_P(OpGradient, MatchesCentralDifferences) {
  const Case test = GetParam();
  Harness harness(ProgramOf(test), 5);
  harness.FillInputs(kVocab, 3);
  for (const Parameter& parameter : harness.executor().program().parameters) {
    CheckParameter(harness, harness.executor().program().value(parameter.value).name, 11, 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGradient, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(OpTable, EveryDifferentiableOpHasAGradientCase) {
  std::set<std::string> covered = {"head_loss"};  // every case ends in it
  for (const Case& test : Cases()) {
    for (const Node& node : ProgramOf(test).nodes) covered.insert(node.op->name);
  }
  for (const OpDef* op : AllOps()) {
    if (op->grad == nullptr) continue;
    EXPECT_TRUE(covered.count(op->name)) << op->name;
  }
}

std::vector<OptimizerGroup> OneGroup(const StepProgram& program) {
  OptimizerGroup group;
  group.name = "all";
  for (const Parameter& p : program.parameters)
    group.parameters.push_back(program.value(p.value).name);
  return {group};
}

ModelConfig SmallModel() {
  ModelConfig config;
  config.depth = 3;
  config.width = 24;
  config.head_dim = 8;
  config.context = 10;
  config.vocab_size = 29;
  config.compute_dtype = config.stream_dtype = DType::kF32;
  config.out_scale = 1;
  config.head_std = 0.5;
  return config;
}

struct ModelCase {
  const char* name;
  std::function<void(ModelConfig*)> change;
};

class ModelGradient : public testing::TestWithParam<ModelCase> {};

TEST_P(ModelGradient, MatchesCentralDifferences) {
  ModelConfig config = SmallModel();
  GetParam().change(&config);
  auto made = MakeTrainProgram(config, BuildGpt, OneGroup, {2, Recompute::kNone, 0});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Harness harness(std::move(made->program), 5);
  // Parameters that start at zero would hide mistakes behind them.
  for (const char* name : {"smear.lambda", "layer1.attention.conv"}) {
    if (harness.store().Find(name)) *harness.Tensor(name) = 0.7f;
  }
  harness.FillInputs(config.vocab_size, 3);
  for (const Parameter& parameter : harness.executor().program().parameters) {
    CheckParameter(harness, harness.executor().program().value(parameter.value).name, 11, 1e-2);
  }
}

const std::vector<ModelCase> kModels = {
    {"baseline", [](ModelConfig*) {}},
    {"tied", [](ModelConfig* c) { c->tied_head = true; }},
    {"gqa_window",
     [](ModelConfig* c) { c->kv_heads = 1, c->window_pattern = "SL", c->short_window = 3; }},
    {"swiglu_no_mix",
     [](ModelConfig* c) { c->activation = Activation::kSwiglu, c->residual_mix = false; }},
    {"value_embeddings",
     [](ModelConfig* c) {
       c->value_embedding_layers = {0, -1}, c->value_embedding_gate = 5;
     }},
    {"shared_value_embedding",
     [](ModelConfig* c) {
       c->value_embedding_layers = {0, 2}, c->value_embedding_shared = true;
     }},
    {"conv_smear", [](ModelConfig* c) { c->conv_taps = 2, c->smear_channels = 4; }},
    {"attention_source",
     [](ModelConfig* c) { c->attention_source_layer = 0, c->attention_source_from = 1; }},
    {"three_targets", [](ModelConfig* c) { c->predict_tokens = 3; }},
    {"no_softcap_no_qk_norm", [](ModelConfig* c) { c->softcap = 0, c->qk_norm = false; }},
};

INSTANTIATE_TEST_SUITE_P(Models, ModelGradient, testing::ValuesIn(kModels),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace wt::nn
