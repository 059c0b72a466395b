// Sampling text from a model, one token at a time, by running the whole context again for each.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "nn/executor.h"
#include "nn/gpt.h"

namespace wt::eval {

struct SampleOptions {
  double temperature = 0.8;  // 0: the most probable token
  int64_t top_k = 0;         // draw among the k most probable; 0: all
  uint64_t seed = 1;
};

// Picks a token from logits [vocab]. Ties go to the smaller id.
int32_t PickToken(std::span<const float> logits, const SampleOptions& options, Philox* random);

class Sampler {
 public:
  // `weights` must outlive the sampler.
  Sampler(nn::ModelConfig config, nn::ModelFunction model, nn::TensorStore* weights,
          SampleOptions options)
      : config_(std::move(config)),
        model_(std::move(model)),
        weights_(weights),
        options_(options),
        random_(options.seed, 0) {}

  // Appends one token to `tokens`, which must not be empty; it sees at most the last `context` of
  // them.
  Status Next(std::vector<int32_t>* tokens);

 private:
  // A program for at least `tokens` positions; lengths are powers of two, so few are made.
  Status Fit(int64_t tokens);

  nn::ModelConfig config_;
  nn::ModelFunction model_;
  nn::TensorStore* weights_;
  SampleOptions options_;
  Philox random_;
  std::unique_ptr<nn::Executor> executor_;
  nn::ValueId logits_ = nn::kNoValue;
  int64_t time_ = 0;
};

}  // namespace wt::eval
