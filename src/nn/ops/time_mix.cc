// Ops that mix a token with its near past or with its value embedding: causal convolution, smear,
// value gate.
#include "nn/ops/ops.h"
#include "tensor/conv.h"
#include "tensor/gate.h"
#include "tensor/smear.h"

namespace wt::nn::ops {
namespace {

// --- causal_conv: x [batch, time, width], w f32 [taps, width]

tensor::ConvShape ConvShapeOf(const OpCall& call, size_t x, size_t w) {
  const Shape& shape = call.input(x).shape;
  return {shape[0], shape[1], shape[2], call.input(w).shape[0]};
}
InferResult InferConv(const OpCall& call) {
  if (call.input(0).shape.size() != 3 || call.cols(1) != call.cols(0) ||
      call.input(1).dtype != DType::kF32) {
    return ShapeError("causal_conv", call, "x [batch, time, width] and w f32 [taps, width]");
  }
  return SameAsInput0(call);
}
void RunConv(const RunContext& c) {
  tensor::ConvForward(ConvShapeOf(c, 0, 1), c.in(0), c.in_as<float>(1), c.out(0));
}
void GradConv(GradContext& c) {
  const auto d = c.Emit("causal_conv_grad", {c.output_gradient(0), c.input(0), c.input(1)}, {},
                        {c.ParameterGradient(1)});
  c.SetInputGradient(0, d.front());
}
// inputs: dy, x, w
void RunConvGrad(const RunContext& c) {
  tensor::ConvBackward(ConvShapeOf(c, 1, 2), c.in(1), c.in_as<float>(2), c.in(0), c.out(0),
                       c.out_as<float>(1));
}
Work WorkConv(const OpCall& call) {
  return ElementwiseWork(call, 2.0 * static_cast<double>(call.input(1).shape[0]));
}
Work WorkConvGrad(const OpCall& call) {
  return ElementwiseWork(call, 4.0 * static_cast<double>(call.input(2).shape[0]));
}

// --- smear: x [batch, time, width], g [batch, time, 1], lambda f32 [1]

tensor::SmearShape SmearShapeOf(const OpCall& call, size_t x) {
  const Shape& shape = call.input(x).shape;
  return {shape[0], shape[1], shape[2]};
}
InferResult InferSmear(const OpCall& call) {
  if (call.input(0).shape.size() != 3 || call.rows(1) != call.rows(0) || call.cols(1) != 1) {
    return ShapeError("smear", call, "x [batch, time, width] and gate logits [batch, time, 1]");
  }
  return SameAsInput0(call);
}
void RunSmear(const RunContext& c) {
  tensor::SmearForward(SmearShapeOf(c, 0), c.in(0), c.in(1), c.in_as<float>(2), c.out(0));
}
void GradSmear(GradContext& c) {
  const auto d = c.Emit("smear_grad", {c.output_gradient(0), c.input(0), c.input(1), c.input(2)},
                        {}, {c.ParameterGradient(2)});
  if (d.size() < 2) return;
  c.SetInputGradient(1, d[1]);
  c.SetInputGradient(0, d[0]);
}
// inputs: dy, x, g, lambda
InferResult InferSmearGrad(const OpCall& call) {
  return std::vector<ValueSpec>{call.input(1), call.input(2)};
}
void RunSmearGrad(const RunContext& c) {
  tensor::SmearBackward(SmearShapeOf(c, 1), c.in(1), c.in(2), c.in_as<float>(3), c.in(0), c.out(0),
                        c.out(1), c.out_as<float>(2));
}
Work WorkSmear(const OpCall& call) { return ElementwiseWork(call, 3); }
Work WorkSmearGrad(const OpCall& call) { return ElementwiseWork(call, 6); }

// --- value_gate: v, e [batch, time, kv_heads * head_dim], g [batch, time, kv_heads]

tensor::GateShape GateShapeOf(const OpCall& call, size_t v, size_t g) {
  const int64_t heads = call.cols(g);
  return {call.rows(v), heads, call.cols(v) / heads,
          static_cast<float>(call.attrs().Real("scale"))};
}
InferResult InferGate(const OpCall& call) {
  if (call.input(0).shape != call.input(2).shape || call.rows(1) != call.rows(0) ||
      call.cols(0) % call.cols(1) != 0) {
    return ShapeError("value_gate", call,
                      "v and e of one shape, gate logits [batch, time, kv_heads]");
  }
  return SameAsInput0(call);
}
void RunGate(const RunContext& c) {
  tensor::GateForward(GateShapeOf(c, 0, 1), c.in(0), c.in(1), c.in(2), c.out(0));
}
void GradGate(GradContext& c) {
  const auto d =
      c.Emit("value_gate_grad", {c.output_gradient(0), c.input(1), c.input(2)}, c.attrs());
  if (d.size() < 2) return;
  c.SetInputGradient(2, d[1]);
  c.SetInputGradient(1, d[0]);
  c.SetInputGradient(0, c.output_gradient(0));
}
// inputs: dy, g, e -> dg, de
InferResult InferGateGrad(const OpCall& call) {
  return std::vector<ValueSpec>{call.input(1), call.input(2)};
}
void RunGateGrad(const RunContext& c) {
  tensor::GateBackward(GateShapeOf(c, 0, 1), c.in(1), c.in(2), c.in(0), c.out(0), c.out(1));
}
Work WorkGate(const OpCall& call) { return ElementwiseWork(call, 2); }
Work WorkGateGrad(const OpCall& call) {
  Work work = ElementwiseWork(call, 0);
  work.vector_flops = 4.0 * static_cast<double>(NumElements(call.input(0).shape));
  return work;
}

}  // namespace

const OpDef kCausalConv = {
    "causal_conv", "y[t] = sum_k w[k] x[t-k]",  InferConv, RunConv, GradConv, WorkConv, -1, false,
    nullptr,       {"causal_conv_cached", 0, 1}};
const OpDef kCausalConvGrad = {
    "causal_conv_grad", "dx, dw of causal_conv", SameAsInput0, RunConvGrad, nullptr, WorkConvGrad};
const OpDef kSmear = {"smear",    "y[t] = x[t] + lambda sigmoid(g[t]) x[t-1]",
                      InferSmear, RunSmear,
                      GradSmear,  WorkSmear,
                      -1,         false,
                      nullptr,    {"smear_cached", 0, 1}};
const OpDef kSmearGrad = {
    "smear_grad", "dx, dg, dlambda of smear", InferSmearGrad, RunSmearGrad, nullptr, WorkSmearGrad};
const OpDef kValueGate = {
    "value_gate", "y = v + scale sigmoid(g) e", InferGate, RunGate, GradGate, WorkGate, 0};
const OpDef kValueGateGrad = {
    "value_gate_grad", "dg, de of value_gate", InferGateGrad, RunGateGrad, nullptr, WorkGateGrad};

}  // namespace wt::nn::ops
