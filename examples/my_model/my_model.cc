// A model of your own, to copy and change:
//
//   windtunnel train recipes/nano.toml --model examples/my_model/my_model.cc
//
// This one is a plain GPT whose feed-forward branch runs beside attention, not after it. Width,
// depth and the rest still come from the recipe; whatever you build here trains, scores and samples
// like the built-in family, as long as it is causal. nn/layers.h has the layers, nn/graph.h the
// calls below them.
#include <cmath>

#include "nn/model_file.h"

using namespace wt::nn;

namespace {

ValueId AttentionBranch(Graph& g, const ModelConfig& c, ValueId h, const std::string& name) {
  const Init in = UniformInit(std::sqrt(3.0 / static_cast<double>(c.width)));
  const int64_t kv_width = c.key_value_heads() * c.head_dim;
  const RopeOptions rope = {c.head_dim, c.rope_base, true, c.qk_gain, c.norm_eps};
  const ValueId q = RopeNorm(g, Linear(g, h, name + ".q", c.width, in), rope);
  const ValueId k = RopeNorm(g, Linear(g, h, name + ".k", kv_width, in), rope);
  const ValueId v = Linear(g, h, name + ".v", kv_width, in);
  const ValueId y = Attention(g, q, k, v, c.head_dim, c.context);
  return Linear(g, y, name + ".out", c.width, ConstantInit(0));
}

ModelOutput ParallelGpt(Graph& g, const ModelConfig& c, ValueId tokens) {
  const Init in = UniformInit(std::sqrt(3.0 / static_cast<double>(c.width)));
  const ValueId table = g.Parameter("embedding", {c.vocab_size, c.width}, ParameterKind::kEmbedding,
                                    NormalInit(c.embedding_std));
  ValueId x = RmsNorm(g, Embedding(g, tokens, table, c.stream_dtype), c.norm_eps);
  for (int64_t layer = 0; layer < c.depth; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    g.set_scope(name);
    g.Checkpoint(x);
    const ValueId h = CastTo(g, RmsNorm(g, x, c.norm_eps), g.compute_dtype());
    const ValueId attention = AttentionBranch(g, c, h, name + ".attention");
    const ValueId mlp = Mlp(g, h, name + ".mlp", c, in, ConstantInit(0));
    x = Add(g, Add(g, x, attention), mlp);
  }
  g.set_scope("head");
  const ValueId hidden = CastTo(g, RmsNorm(g, x, c.norm_eps), g.compute_dtype());
  return {hidden, g.Parameter("head", {c.vocab_size, c.width}, ParameterKind::kHead,
                              NormalInit(c.head_std))};
}

}  // namespace

WT_MODEL(ParallelGpt)
