// Sampling text from a model, one token at a time, with what earlier tokens left in pools (KV
// cache).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "eval/inference.h"

namespace wt::eval {

struct SampleOptions {
  double temperature = 0.8;  // 0: the most probable token
  int64_t top_k = 0;         // draw among the k most probable; 0: all
  double top_p = 1;          // … and among the fewest whose probabilities add up to this
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

  // Appends one token to `tokens`, which must not be empty. Tokens that the call before saw are not
  // run again. A sequence that has filled the context goes on from its newer half.
  Status Next(std::vector<int32_t>* tokens);

 private:
  Status Prepare();
  // Runs tokens [begin, end) at positions from begin - first_ on; gives the last one's logits.
  std::span<float> Feed(const std::vector<int32_t>& tokens, size_t begin);

  nn::ModelConfig config_;
  nn::ModelFunction model_;
  nn::TensorStore* weights_;
  SampleOptions options_;
  Philox random_;
  std::unique_ptr<InferenceEngine> engine_;
  std::vector<int32_t> slots_;  // 0, 1, 2, …: one sequence alone
  std::vector<int32_t> seen_;   // tokens that have run, from first_ on
  size_t first_ = 0;            // the token at position 0
};

}  // namespace wt::eval
