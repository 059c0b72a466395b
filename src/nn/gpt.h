// The GPT family that recipes describe, and the programs made of any model: train, score, logits.
#pragma once

#include <functional>
#include <vector>

#include "nn/graph.h"
#include "nn/model_config.h"
#include "nn/optimizer.h"
#include "nn/recompute.h"

namespace wt::nn {

// What a model file returns: final hidden states and the head that turns them into logits.
struct ModelOutput {
  ValueId hidden = kNoValue;       // [batch, time, width], normalised, in the compute dtype
  ValueId head_weight = kNoValue;  // parameter [vocab, width]
};

// A model: reads tokens, an i32 [batch, time] input. It must be causal. A user's model file defines
// one and names it with WT_MODEL (user_model.h).
using ModelFunction =
    std::function<ModelOutput(Graph& graph, const ModelConfig& config, ValueId tokens)>;

ModelOutput BuildGpt(Graph& graph, const ModelConfig& config, ValueId tokens);

// Names of the inputs and results that programs share.
inline constexpr char kTokensInput[] = "tokens";    // i32 [batch, time]
inline constexpr char kTargetsInput[] = "targets";  // i32 [batch, time], negative: not scored
inline constexpr char kLossWeightsInput[] =
    "loss_weights";  // f32 [predict]: of targets t+1, t+2, …

// The model's graph up to its hidden states, with a tokens input [rows, time].
Result<ModelOutput> BuildModel(Graph* graph, const ModelConfig& config, const ModelFunction& model,
                               int64_t rows, int64_t time);

struct TrainProgram {
  StepProgram program;
  ValueId loss = kNoValue;  // f32 [1], mean nats a token (weighted sum when several are predicted)
  ValueId nll = kNoValue;   // f32 [batch, time], nats
  ValueId gradient_norm = kNoValue;  // f32 [1]
};

// Turns parameters into optimiser groups; called once the model is built.
using GroupFunction = std::function<std::vector<OptimizerGroup>(const StepProgram& program)>;

struct TrainOptions {
  int64_t rows = 8;  // of one micro-batch
  Recompute recompute = Recompute::kNone;
  double grad_clip = 0;
};

Result<TrainProgram> MakeTrainProgram(const ModelConfig& config, const ModelFunction& model,
                                      const GroupFunction& groups, const TrainOptions& options);

struct ScoreProgram {
  StepProgram program;
  ValueId nll = kNoValue;  // f32 [rows, time], nats; 0 where the target is negative
};
Result<ScoreProgram> MakeScoreProgram(const ModelConfig& config, const ModelFunction& model,
                                      int64_t rows, int64_t time);

struct LogitsProgram {
  StepProgram program;
  ValueId logits = kNoValue;  // f32 [rows, time, vocab]
};
Result<LogitsProgram> MakeLogitsProgram(const ModelConfig& config, const ModelFunction& model,
                                        int64_t rows, int64_t time);

}  // namespace wt::nn
