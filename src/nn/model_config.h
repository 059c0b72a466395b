// ModelConfig: everything a recipe's [model] and [init] tables can say of the GPT family. gpt.h
// builds the graph from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace wt::nn {

enum class Activation { kRelu2, kLeakyRelu2, kGelu, kSilu, kSwiglu };
const char* ActivationName(Activation activation);
Result<Activation> ParseActivation(const std::string& name);

struct ModelConfig {
  // [model]
  int64_t depth = 6;
  int64_t width = 192;
  int64_t head_dim = 64;  // width must be a multiple; query heads = width / head_dim
  int64_t kv_heads = 0;   // 0: as many as query heads (MHA); 1: MQA
  double mlp_ratio = 4;
  Activation activation = Activation::kRelu2;
  double leaky_slope = 0.35;  // of leaky_relu2
  double rope_base = 100000;
  bool qk_norm = true;
  double qk_gain = 1.0;  // multiplies both normalised queries and keys
  double softcap = 15;   // logits = softcap * tanh(z / softcap); 0: none
  bool tied_head = false;
  bool residual_mix = true;  // x <- r x + z x0 before each block, r and z learned
  std::vector<int64_t> value_embedding_layers;  // negative counts from the last
  bool value_embedding_shared = false;          // one table for all of them
  int64_t value_embedding_gate = 0;             // channels that feed the gate; 0: no gate
  std::string window_pattern = "L";     // tiled over layers, last layer always L; S: short window
  int64_t short_window = 0;             // 0: a quarter of the context, rounded up to 128
  int64_t conv_taps = 0;                // causal depthwise conv before attention; 0: none
  int64_t smear_channels = 0;           // channels that feed the smear gate; 0: no smear
  int64_t attention_source_from = 0;    // layers >= this read …
  int64_t attention_source_layer = -1;  // … this layer's normalised input; -1: off
  int64_t predict_tokens = 1;           // multi-token prediction: targets t+1 … t+n
  double norm_eps = 1.1920929e-7;
  DType compute_dtype = DType::kBF16;  // products and activations; f32 for checks
  DType stream_dtype = DType::kBF16;   // the residual stream

  // [init]
  double embedding_std = 0.8;
  double head_std = 0.001;
  double matrix_scale = 1.0;  // q, k, v and mlp-in: uniform +-scale * sqrt(3 / width)
  double out_scale = 0.0;     // the two output projections, likewise
  double residual_start = 1.0, residual_end = 1.0;  // r, linear in depth
  double x0_start = 0.05, x0_end = 0.05;            // z, linear in depth

  // Set by the data: not recipe keys of [model].
  int64_t vocab_size = 8192;
  int64_t context = 1024;

  int64_t heads() const { return width / head_dim; }
  int64_t key_value_heads() const { return kv_heads ? kv_heads : heads(); }
  // Divisibility and ranges; the message names the key.
  Status Validate() const;
};

}  // namespace wt::nn
