// InferenceEngine: a model with its past in pools (KV cache), for prefill, decoding and scoring. A
// run takes pieces of sequences of any lengths, each with the path of its slots; who owns which
// slot is the caller's business. A row's logits have the same bits whatever else is in the run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nn/cached_program.h"
#include "nn/executor.h"

namespace wt::eval {

// Tokens that follow each other in one sequence. `path` names the slots of positions 0 .. the last
// token's; the tokens are the last ones of it.
struct Piece {
  std::span<const int32_t> tokens;
  std::span<const int32_t> path;
};

class InferenceEngine {
 public:
  // `weights` must outlive the engine.
  static Result<std::unique_ptr<InferenceEngine>> Create(const nn::ModelConfig& config,
                                                         const nn::ModelFunction& model,
                                                         nn::TensorStore* weights,
                                                         const nn::CachedSizes& sizes);

  // Runs all tokens of the pieces and keeps what later runs need of them. `wanted` are rows,
  // counted over the pieces in order. Gives logits [wanted, vocab], valid until the next run.
  // Requires that the pieces fit sizes().
  std::span<float> Run(std::span<const Piece> pieces, std::span<const int32_t> wanted);

  const nn::CachedSizes& sizes() const { return sizes_; }
  int64_t vocab() const { return vocab_; }
  int64_t bytes() const { return executor_->bytes(); }

 private:
  InferenceEngine() = default;

  nn::CachedSizes sizes_;
  int64_t vocab_ = 0;
  nn::CachedProgram ids_;  // its program is the executor's
  std::unique_ptr<nn::Executor> executor_;
};

}  // namespace wt::eval
