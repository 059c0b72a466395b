// Scoring CORE's questions with a model: the shared way, which runs what prompts have in common
// once (sorted prompts over paths, inference.h), and its plain twin, one prompt at a time. Both
// give the same bits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "eval/core_prompts.h"
#include "eval/inference.h"

namespace wt::eval {

// Of one prompt.
struct PromptScore {
  double mean_nll = 0;    // nats a scored token; NaN for an empty span
  bool all_right = true;  // each scored token was the most probable one
};

struct CoreAnswer {
  int64_t chosen = 0;  // index of a choice; for language modelling 1 when all tokens are right
  bool right = false;
};

// The smallest mean, the first on ties; as Python's min() treats NaN: one that comes first stays.
CoreAnswer Choose(CoreKind kind, const CoreQuestion& question, std::span<const PromptScore> scores);

class SharedScorer {
 public:
  // For prompts of at most `longest` tokens.
  static Result<std::unique_ptr<SharedScorer>> Create(const nn::ModelConfig& config,
                                                      const nn::ModelFunction& model,
                                                      nn::TensorStore* weights, int64_t longest);

  // One score a prompt, in order. Fails with kNumeric on logits that are not finite. `progress(n)`
  // is called with the tokens done since the last call; false stops with kInterrupted.
  Result<std::vector<PromptScore>> Score(std::span<const CorePrompt* const> prompts,
                                         const std::function<bool(int64_t)>& progress = {});

  int64_t tokens_run() const { return tokens_run_; }

 private:
  explicit SharedScorer(std::unique_ptr<InferenceEngine> engine) : engine_(std::move(engine)) {}

  std::unique_ptr<InferenceEngine> engine_;
  int64_t tokens_run_ = 0;
};

class PlainScorer {
 public:
  static Result<std::unique_ptr<PlainScorer>> Create(const nn::ModelConfig& config,
                                                     const nn::ModelFunction& model,
                                                     nn::TensorStore* weights, int64_t longest);
  Result<std::vector<PromptScore>> Score(std::span<const CorePrompt* const> prompts);

 private:
  PlainScorer() = default;
  std::unique_ptr<nn::Executor> executor_;
  nn::ValueId tokens_ = nn::kNoValue, logits_ = nn::kNoValue;
  int64_t vocab_ = 0;
};

}  // namespace wt::eval
