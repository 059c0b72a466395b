// From a recipe's [model] to a graph, block by block. Baseline facts: a parameter-free RMSNorm
// after the embedding, before each branch and before the head; rotary positions, then QK norm; x <-
// r x + z x0 before each block (x0 is the normalised embedding).
#include "nn/gpt.h"

#include <algorithm>
#include <cmath>

#include "nn/layers.h"

namespace wt::nn {
namespace {

class GptBuilder {
 public:
  GptBuilder(Graph& graph, const ModelConfig& config) : g_(graph), c_(config) {}

  ModelOutput Build(ValueId tokens) {
    tokens_ = tokens;
    ValueId x = EmbedTokens();
    x0_ = x;
    MakeResidualScalars();
    for (int64_t layer = 0; layer < c_.depth; ++layer) x = Block(x, layer);
    g_.set_scope("head");
    const ValueId hidden = CastTo(g_, RmsNorm(g_, x, c_.norm_eps), g_.compute_dtype());
    return {hidden, c_.tied_head ? table_ : HeadWeight()};
  }

 private:
  ValueId EmbedTokens() {
    g_.set_scope("embedding");
    table_ = g_.Parameter("embedding", {c_.vocab_size, c_.width}, ParameterKind::kEmbedding,
                          NormalInit(c_.embedding_std));
    ValueId x = RmsNorm(g_, Embedding(g_, tokens_, table_, c_.stream_dtype), c_.norm_eps);
    if (c_.smear_channels > 0) x = Smear(g_, x, "smear", c_.smear_channels);
    return x;
  }

  ValueId HeadWeight() {
    return g_.Parameter("head", {c_.vocab_size, c_.width}, ParameterKind::kHead,
                        NormalInit(c_.head_std));
  }

  void MakeResidualScalars() {
    if (!c_.residual_mix) return;
    residual_ = g_.Parameter("residual_scale", {c_.depth}, ParameterKind::kScalar,
                             RampInit(c_.residual_start, c_.residual_end));
    x0_scale_ = g_.Parameter("x0_scale", {c_.depth}, ParameterKind::kScalar,
                             RampInit(c_.x0_start, c_.x0_end));
  }

  ValueId Block(ValueId x, int64_t layer) {
    const std::string name = fmt::format("layer{}", layer);
    g_.Checkpoint(x);
    g_.set_scope(name);
    if (c_.residual_mix) x = Mix(g_, x, x0_, residual_, x0_scale_, layer);
    g_.set_scope(name + ".attention");
    x = Add(g_, x, AttentionBranch(x, layer, name + ".attention"));
    g_.set_scope(name + ".mlp");
    const ValueId h = CastTo(g_, RmsNorm(g_, x, c_.norm_eps), g_.compute_dtype());
    return Add(g_, x, Mlp(g_, h, name + ".mlp", c_, InInit(), OutInit()));
  }

  ValueId AttentionBranch(ValueId x, int64_t layer, const std::string& name) {
    const ValueId h = AttentionSource(x, layer, name);
    const int64_t kv_width = c_.key_value_heads() * c_.head_dim;
    const RopeOptions rope = {c_.head_dim, c_.rope_base, c_.qk_norm, c_.qk_gain, c_.norm_eps};
    const ValueId q = RopeNorm(g_, Linear(g_, h, name + ".q", c_.width, InInit()), rope);
    const ValueId k = RopeNorm(g_, Linear(g_, h, name + ".k", kv_width, InInit()), rope);
    ValueId v = Linear(g_, h, name + ".v", kv_width, InInit());
    if (HasValueEmbedding(layer)) v = AddValueEmbedding(v, h, layer, name);
    const ValueId y = Attention(g_, q, k, v, c_.head_dim, Window(layer));
    return Linear(g_, y, name + ".out", c_.width, OutInit());
  }

  // The normalised input of the branch: this block's own, or an earlier block's where the recipe
  // reuses it.
  ValueId AttentionSource(ValueId x, int64_t layer, const std::string& name) {
    if (c_.attention_source_layer >= 0 && layer >= c_.attention_source_from) return reused_source_;
    ValueId h = CastTo(g_, RmsNorm(g_, x, c_.norm_eps), g_.compute_dtype());
    if (c_.conv_taps > 0) h = CausalConv(g_, h, name + ".conv", c_.conv_taps);
    if (layer == c_.attention_source_layer) {
      reused_source_ = h;
      g_.Checkpoint(h);
    }
    return h;
  }

  bool HasValueEmbedding(int64_t layer) const {
    return std::any_of(c_.value_embedding_layers.begin(), c_.value_embedding_layers.end(),
                       [&](int64_t l) { return (l < 0 ? l + c_.depth : l) == layer; });
  }

  ValueId AddValueEmbedding(ValueId v, ValueId h, int64_t layer, const std::string& name) {
    const int64_t kv_width = c_.key_value_heads() * c_.head_dim;
    if (value_table_ == kNoValue || !c_.value_embedding_shared) {
      const std::string table =
          c_.value_embedding_shared ? "value_embedding" : fmt::format("value_embedding{}", layer);
      value_table_ = g_.Parameter(table, {c_.vocab_size, kv_width}, ParameterKind::kValueEmbedding,
                                  UniformInit(std::sqrt(3.0 / static_cast<double>(c_.width))));
    }
    const ValueId e = Embedding(g_, tokens_, value_table_, g_.compute_dtype());
    if (c_.value_embedding_gate == 0) return Add(g_, v, e);
    const ValueId channels = g_.Call("slice_columns", {h}, {{"count", c_.value_embedding_gate}});
    const ValueId logits =
        Linear(g_, channels, name + ".value_gate", c_.key_value_heads(), UniformInit(0.02));
    return g_.Call("value_gate", {v, logits, e}, {{"scale", 3.0}});
  }

  // Keys seen to the left: all of the row, or the short window; the last layer always sees all.
  int64_t Window(int64_t layer) const {
    const int64_t time = g_.shape(tokens_)[1];
    const char kind = c_.window_pattern[static_cast<size_t>(layer) % c_.window_pattern.size()];
    if (kind == 'L' || layer == c_.depth - 1) return time;
    const int64_t quarter = (c_.context + 3) / 4;
    return c_.short_window > 0 ? c_.short_window : (quarter + 127) / 128 * 128;
  }

  Init InInit() const {
    return UniformInit(c_.matrix_scale * std::sqrt(3.0 / static_cast<double>(c_.width)));
  }
  Init OutInit() const {
    return UniformInit(c_.out_scale * std::sqrt(3.0 / static_cast<double>(c_.width)));
  }

  Graph& g_;
  const ModelConfig& c_;
  ValueId tokens_ = kNoValue, table_ = kNoValue, x0_ = kNoValue;
  ValueId residual_ = kNoValue, x0_scale_ = kNoValue;
  ValueId reused_source_ = kNoValue, value_table_ = kNoValue;
};

}  // namespace

ModelOutput BuildGpt(Graph& graph, const ModelConfig& config, ValueId tokens) {
  return GptBuilder(graph, config).Build(tokens);
}

}  // namespace wt::nn
