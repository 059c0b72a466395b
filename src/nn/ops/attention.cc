// Causal attention over whole rows: q [batch, time, heads * head_dim], k and v with kv_heads.
#include "tensor/attention.h"

#include <algorithm>
#include <cmath>

#include "nn/ops/ops.h"

namespace wt::nn::ops {
namespace {

tensor::AttentionShape ShapeOf(const OpCall& call, size_t q_input) {
  const Shape& q = call.input(q_input).shape;
  const int64_t head_dim = call.attrs().Int("head_dim");
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  return {q[0],
          q[1],
          q[2] / head_dim,
          call.input(q_input + 1).shape[2] / head_dim,
          head_dim,
          call.attrs().Int("window"),
          static_cast<float>(scale)};
}

InferResult InferAttention(const OpCall& call) {
  const Value &q = call.input(0), &k = call.input(1), &v = call.input(2);
  const int64_t head_dim = call.attrs().Int("head_dim");
  const bool ranks = q.shape.size() == 3 && k.shape.size() == 3;
  if (!ranks || k.shape != v.shape || k.shape[1] != q.shape[1] || k.shape[0] != q.shape[0] ||
      k.shape[2] % head_dim != 0 || q.shape[2] % k.shape[2] != 0 || k.dtype != q.dtype ||
      v.dtype != q.dtype) {
    return ShapeError(
        "attention", call,
        "q [batch, time, heads * head_dim], k and v [batch, time, kv_heads * head_dim]");
  }
  return std::vector<ValueSpec>{{q.shape, q.dtype},
                                {{q.shape[0], q.shape[2] / head_dim, q.shape[1]}, DType::kF32}};
}
void RunAttention(const RunContext& c) {
  tensor::AttentionForward(ShapeOf(c, 0), c.input(0).dtype, c.in(0).data, c.in(1).data,
                           c.in(2).data, c.out(0).data, c.out_as<float>(1));
}
void GradAttention(GradContext& c) {
  const auto d =
      c.Emit("attention_grad",
             {c.output_gradient(0), c.input(0), c.input(1), c.input(2), c.output(0), c.output(1)},
             c.attrs());
  for (size_t i = 0; i < 3 && d.size() == 3; ++i) c.SetInputGradient(i, d[i]);
}
// inputs: dy, q, k, v, y, log_sum_exp
InferResult InferAttentionGrad(const OpCall& call) {
  return std::vector<ValueSpec>{call.input(1), call.input(2), call.input(3)};
}
void RunAttentionGrad(const RunContext& c) {
  tensor::AttentionBackward(ShapeOf(c, 1), c.input(1).dtype, c.in(1).data, c.in(2).data,
                            c.in(3).data, c.in(4).data, c.in_as<float>(5), c.in(0).data,
                            c.out(0).data, c.out(1).data, c.out(2).data);
}

// Pairs (query, key) that the mask lets through, over all rows and heads.
double VisiblePairs(const tensor::AttentionShape& s) {
  const double w = static_cast<double>(std::min(s.window, s.time - 1)) + 1;
  const double t = static_cast<double>(s.time);
  return static_cast<double>(s.batch * s.heads) * (w * (w + 1) / 2 + (t - w) * w);
}
Work WorkWith(const OpCall& call, size_t q_input, int products, double softmax_flops) {
  const tensor::AttentionShape shape = ShapeOf(call, q_input);
  Work work = ElementwiseWork(call, 0);
  const double pairs = VisiblePairs(shape);
  work.matmul_dtype = call.input(q_input).dtype;
  work.matmul_flops = 2.0 * products * pairs * static_cast<double>(shape.head_dim);
  work.vector_flops = softmax_flops * pairs;
  work.inner_elements = static_cast<double>(shape.batch * shape.heads) *
                        static_cast<double>(shape.time) * static_cast<double>(shape.time);
  return work;
}
Work WorkAttention(const OpCall& call) { return WorkWith(call, 0, 2, 4); }
Work WorkAttentionGrad(const OpCall& call) { return WorkWith(call, 1, 5, 5); }

}  // namespace

const OpDef kAttention = {"attention",
                          "y = softmax(scale q k^T + causal window mask) v",
                          InferAttention,
                          RunAttention,
                          GradAttention,
                          WorkAttention,
                          -1,
                          false,
                          nullptr,
                          {"attention_cached", 1, 2}};
const OpDef kAttentionGrad = {
    "attention_grad", "dq, dk, dv of attention", InferAttentionGrad, RunAttentionGrad,
    nullptr,          WorkAttentionGrad};

}  // namespace wt::nn::ops
