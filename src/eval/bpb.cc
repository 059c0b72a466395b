#include "eval/bpb.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "nn/executor.h"

namespace wt::eval {
namespace {

text::EvalConfig EvalConfigOf(const BpbOptions& options, int32_t bos) {
  text::EvalConfig config;
  config.layout = options.layout;
  config.context = options.context;
  config.rows = options.rows;
  config.total_tokens = options.tokens;
  config.ranks = options.ranks;
  config.bos = bos;
  return config;
}

// Losses of one batch, f32 [rows, context], in the executor's memory.
std::span<const float> Score(nn::Executor* executor, nn::ValueId nll, const text::Batch& batch) {
  const size_t n = batch.inputs.size();
  std::memcpy(executor->Data<int32_t>(nn::kTokensInput), batch.inputs.data(), n * sizeof(int32_t));
  std::memcpy(executor->Data<int32_t>(nn::kTargetsInput), batch.targets.data(),
              n * sizeof(int32_t));
  executor->Run(nn::Phase::kForward);
  return {executor->Data<float>(nll), n};
}

}  // namespace

Result<BpbResult> EvaluateBpb(const nn::ModelConfig& config, const nn::ModelFunction& model,
                              nn::TensorStore* weights, const text::TokenSet& validation,
                              const text::Tokenizer& tokenizer, const BpbOptions& options,
                              const std::function<bool(int64_t, int64_t)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& source : validation.sources()) {
    WT_RETURN_IF_ERROR(text::CheckBytes(*source, tokenizer.token_bytes()));
  }
  WT_ASSIGN_OR_RETURN(nn::ScoreProgram made,
                      nn::MakeScoreProgram(config, model, options.rows, options.context));
  WT_ASSIGN_OR_RETURN(auto executor, nn::Executor::Create(std::move(made.program), weights));
  WT_ASSIGN_OR_RETURN(
      text::EvalBatches batches,
      text::EvalBatches::Create(validation, EvalConfigOf(options, tokenizer.bos())));
  *executor->Data<float>(nn::kLossWeightsInput) = 1.0f;
  executor->Run(nn::Phase::kPrepare);

  BpbResult result;
  result.options = options;
  text::Batch batch;
  while (batches.Next(&batch)) {
    result.totals.Add(Score(executor.get(), made.nll, batch), batch.targets,
                      tokenizer.token_bytes());
    if (progress && !progress(batches.tokens(), batches.planned_tokens())) {
      return Error(Code::kInterrupted, "the evaluation was stopped; nothing was written");
    }
  }
  if (!std::isfinite(result.totals.nats)) {
    return Error(Code::kNumeric,
                 "the model's losses are not finite; the weights hold NaN or infinity");
  }
  result.short_of_tokens = batches.short_of_tokens();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace wt::eval
