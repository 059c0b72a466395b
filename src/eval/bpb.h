// Bits per byte of a model on validation text, exactly as the contest counts them: nats over scored
// targets, divided by ln 2 and the bytes those targets stand for; special targets count in neither.
#pragma once

#include <functional>
#include <string>

#include "nn/gpt.h"
#include "nn/tensor_store.h"
#include "text/byte_account.h"
#include "text/loader_eval.h"
#include "text/tokenizer.h"

namespace wt::eval {

struct BpbOptions {
  text::Layout layout = text::Layout::kStream;
  int64_t tokens = 524288;
  int64_t context = 1024;
  int64_t rows = 8;  // of one batch; changes speed and memory, not the score
  int ranks = 1;     // whose striding cuts the token set; 8 on the contest's chip
};

struct BpbResult {
  text::BpbTotals totals;
  BpbOptions options;
  bool short_of_tokens = false;  // the validation text ended before `options.tokens`
  double seconds = 0;

  double val_bpb() const { return totals.bits_per_byte(); }
};

// `weights` holds the parameters of `config`. `progress(done, planned)` is called after each batch;
// false stops with kInterrupted. Fails with kMismatch when the tokens do not
// stand for exactly the bytes of their text, and with kNumeric when a loss is not finite.
Result<BpbResult> EvaluateBpb(
    const nn::ModelConfig& config, const nn::ModelFunction& model, nn::TensorStore* weights,
    const text::TokenSet& validation, const text::Tokenizer& tokenizer, const BpbOptions& options,
    const std::function<bool(int64_t done, int64_t planned)>& progress = {});

}  // namespace wt::eval
