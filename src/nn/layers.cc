#include "nn/layers.h"

#include <algorithm>
#include <cmath>

namespace wt::nn {

ValueId Linear(Graph& g, ValueId x, const std::string& name, int64_t out, const Init& init,
               ParameterKind kind) {
  const ValueId w = g.Parameter(name, {out, g.shape(x).back()}, kind, init);
  return g.Call("linear", {x, g.Weight(w)});
}

ValueId Embedding(Graph& g, ValueId tokens, ValueId table, DType dtype) {
  return g.Call("embedding", {tokens, table}, {{"dtype", static_cast<int64_t>(dtype)}});
}

ValueId RmsNorm(Graph& g, ValueId x, double eps) { return g.Call("rms_norm", {x}, {{"eps", eps}}); }

ValueId Add(Graph& g, ValueId a, ValueId b) { return g.Call("add", {a, b}); }

ValueId Mix(Graph& g, ValueId x, ValueId x0, ValueId r, ValueId z, int64_t index) {
  return g.Call("mix", {x, x0, r, z}, {{"index", index}});
}

ValueId CastTo(Graph& g, ValueId x, DType dtype) {
  if (g.program().value(x).dtype == dtype) return x;
  return g.Call("cast", {x}, {{"dtype", static_cast<int64_t>(dtype)}});
}

ValueId RopeNorm(Graph& g, ValueId x, const RopeOptions& options) {
  return g.Call("rope_norm", {x},
                {{"head_dim", options.head_dim},
                 {"base", options.base},
                 {"norm", static_cast<int64_t>(options.norm)},
                 {"gain", options.gain},
                 {"eps", options.eps}});
}

ValueId Attention(Graph& g, ValueId q, ValueId k, ValueId v, int64_t head_dim, int64_t window) {
  return g.Call("attention", {q, k, v}, {{"head_dim", head_dim}, {"window", window}});
}

ValueId Mlp(Graph& g, ValueId x, const std::string& name, const ModelConfig& config,
            const Init& in_init, const Init& out_init) {
  const int64_t width = g.shape(x).back();
  const int64_t hidden =
      std::max<int64_t>(1, std::llround(config.mlp_ratio * static_cast<double>(width)));
  const ValueId up = Linear(g, x, name + ".up", hidden, in_init);
  ValueId h;
  if (config.activation == Activation::kSwiglu) {
    h = g.Call("swiglu", {Linear(g, x, name + ".gate", hidden, in_init), up});
  } else {
    h = g.Call("activation", {up},
               {{"kind", static_cast<int64_t>(config.activation)}, {"slope", config.leaky_slope}});
  }
  return Linear(g, h, name + ".down", width, out_init);
}

ValueId CausalConv(Graph& g, ValueId x, const std::string& name, int64_t taps) {
  const int64_t width = g.shape(x).back();
  // Starts as the identity: the first tap 1, the others 0.
  const ValueId now = g.Parameter(name, {taps, width}, ParameterKind::kScalar,
                                  Init{Init::Kind::kFirstRow, 1.0, 0.0});
  return g.Call("causal_conv", {x, now});
}

ValueId Smear(Graph& g, ValueId x, const std::string& name, int64_t channels) {
  const ValueId head = g.Call("slice_columns", {x}, {{"count", channels}});
  const DType dtype = g.compute_dtype();
  const ValueId logit = Linear(g, CastTo(g, head, dtype), name + ".gate", 1, UniformInit(0.02),
                               ParameterKind::kScalar);
  const ValueId lambda =
      g.Parameter(name + ".lambda", {1}, ParameterKind::kScalar, ConstantInit(0));
  return g.Call("smear", {x, logit, lambda});
}

}  // namespace wt::nn
