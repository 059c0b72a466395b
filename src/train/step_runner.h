// StepRunner: the numbers of a run - program, tensors, loader - without any notion of time. It takes optimiser steps and
// says what came out; the loop around it (trainer.h) decides when.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nn/executor.h"
#include "nn/gpt.h"
#include "text/prefetch.h"
#include "text/token_source.h"
#include "train/checkpoint.h"
#include "train/recipe.h"
#include "train/schedule.h"

namespace wt::train {

struct StepOutcome {
  double loss = 0;           // mean nats per next token
  double gradient_norm = 0;  // of the mean gradient, before clipping
  int64_t tokens = 0;
  bool abandoned = false;    // dropped before its update; nothing changed
};

class StepRunner {
 public:
  // Builds the program, plans its memory and opens the loader. Fails when the recipe does not fit this machine's
  // memory or the data's vocabulary.
  static Result<std::unique_ptr<StepRunner>> Create(const Recipe& recipe, const nn::ModelFunction& model,
                                                    const text::TokenSet& data, int32_t bos);

  // Takes one step. `may_go_on(tokens_left)` is asked before each micro-batch but the first; false drops the step.
  // Fails with kNumeric when the loss is not finite; the update is not made then.
  Result<StepOutcome> Step(const ScheduleValues& values,
                           const std::function<bool(int64_t tokens_left)>& may_go_on);

  // Mixes the running average into the weights (optimizer.ema_blend); for the end of a run.
  void BlendAverage();

  // Everything a checkpoint needs except the clock's part, as views of the live tensors.
  CheckpointContents Contents() const;
  // Goes on from a checkpoint: kMismatch, naming the difference, when it is of another recipe, tokenizer or shape.
  Status Restore(const Checkpoint& checkpoint);

  nn::TensorStore& store() { return store_; }
  const nn::Executor& executor() const { return *executor_; }
  const std::string& program_hash() const { return program_hash_; }
  int64_t steps() const { return steps_; }
  int64_t tokens() const { return tokens_; }
  int64_t epoch() const { return loader_->epoch(); }
  int64_t parameter_count() const { return executor_->program().ParameterCount(); }
  // Floating-point operations of matrix products for each trained token, forward and backward.
  double flops_per_token() const;

 private:
  explicit StepRunner(const Recipe& recipe) : recipe_(recipe) {}
  Status BuildProgram(const nn::ModelFunction& model);
  Status BuildAverages();
  Status OpenLoader(const text::TokenSet& data, int32_t bos);
  void CopyBatch();
  void UpdateAverage();
  double MeanLoss() const;

  Recipe recipe_;
  nn::TensorStore store_;
  std::unique_ptr<nn::Executor> executor_, average_, blend_;
  nn::ValueId nll_ = nn::kNoValue, gradient_norm_ = nn::kNoValue;
  std::string program_hash_, recipe_hash_, tokenizer_hash_;
  std::unique_ptr<text::PrefetchLoader> loader_;
  std::string loader_state_;  // after the last finished step
  text::Batch batch_;
  int64_t steps_ = 0, tokens_ = 0;
};

// Bytes that running `program` takes: persistent tensors, arena, inputs.
int64_t ProgramBytes(const nn::StepProgram& program);

}  // namespace wt::train
