// Layers: the calls a model file is made of. Each takes and returns values of a Graph.
#pragma once

#include <string>

#include "nn/graph.h"
#include "nn/model_config.h"

namespace wt::nn {

// x [..., in] -> [..., out], with a new parameter NAME [out, in].
ValueId Linear(Graph& g, ValueId x, const std::string& name, int64_t out, const Init& init,
               ParameterKind kind = ParameterKind::kMatrix);
// tokens i32 [batch, time] -> [batch, time, width] in `dtype`, from an existing table [vocab,
// width].
ValueId Embedding(Graph& g, ValueId tokens, ValueId table, DType dtype);
ValueId RmsNorm(Graph& g, ValueId x, double eps);
ValueId Add(Graph& g, ValueId a, ValueId b);
// y = r[index] x + z[index] x0.
ValueId Mix(Graph& g, ValueId x, ValueId x0, ValueId r, ValueId z, int64_t index);
// The value in another dtype; itself when it has it already.
ValueId CastTo(Graph& g, ValueId x, DType dtype);

struct RopeOptions {
  int64_t head_dim = 64;
  double base = 100000;
  bool norm = true;
  double gain = 1;
  double eps = 1.1920929e-7;
};
// Rotary positions, then RMS norm a head, then gain. x [batch, time, heads * head_dim].
ValueId RopeNorm(Graph& g, ValueId x, const RopeOptions& options);
// Query t sees keys t - window .. t.
ValueId Attention(Graph& g, ValueId q, ValueId k, ValueId v, int64_t head_dim, int64_t window);
// f(x), or for swiglu: silu(gate) * up with gate and up from two products.
ValueId Mlp(Graph& g, ValueId x, const std::string& name, const ModelConfig& config,
            const Init& in_init, const Init& out_init);
ValueId CausalConv(Graph& g, ValueId x, const std::string& name, int64_t taps);
// x_t + lambda sigmoid(W x_t[0:channels]) x_{t-1}
ValueId Smear(Graph& g, ValueId x, const std::string& name, int64_t channels);

}  // namespace wt::nn
