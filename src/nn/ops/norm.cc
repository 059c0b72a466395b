// RMSNorm without learned weights, and the rotary positions with QK norm of attention.
#include "tensor/norm.h"

#include "nn/ops/ops.h"
#include "tensor/rope.h"

namespace wt::nn::ops {
namespace {

float Eps(const OpCall& call) { return static_cast<float>(call.attrs().Real("eps")); }

void RunNorm(const RunContext& c) {
  tensor::RmsNormForward(c.rows(0), c.cols(0), Eps(c), c.in(0), c.out(0));
}
void GradNorm(GradContext& c) {
  const ValueId addend = c.TakeInputGradient(0);
  const auto d = c.Emit("rms_norm_grad", {c.output_gradient(0), c.input(0), addend}, c.attrs());
  c.SetInputGradient(0, d.front());
}
// inputs: dy, x, addend or nothing
void RunNormGrad(const RunContext& c) {
  tensor::RmsNormBackward(c.rows(0), c.cols(0), Eps(c), c.in(1), c.in(0), c.in(2), c.out(0));
}
Work WorkNorm(const OpCall& call) { return ElementwiseWork(call, 3); }
Work WorkNormGrad(const OpCall& call) { return ElementwiseWork(call, 8); }

// x: [batch, time, heads * head_dim]
InferResult InferRope(const OpCall& call) {
  const int64_t head_dim = call.attrs().Int("head_dim");
  if (call.input(0).shape.size() != 3 || call.cols(0) % head_dim != 0) {
    return ShapeError("rope_norm", call, fmt::format("[batch, time, heads * {}]", head_dim));
  }
  return SameAsInput0(call);
}
tensor::RopeShape RopeShapeOf(const OpCall& call) {
  const Shape& shape = call.input(0).shape;
  const Attrs& attrs = call.attrs();
  tensor::RopeShape rope;
  rope.batch = shape[0];
  rope.time = shape[1];
  rope.head_dim = attrs.Int("head_dim");
  rope.heads = shape[2] / rope.head_dim;
  rope.base = attrs.Real("base");
  rope.norm = attrs.Int("norm") != 0;
  rope.eps = Eps(call);
  rope.gain = static_cast<float>(attrs.Real("gain"));
  return rope;
}
void RunRope(const RunContext& c) { tensor::RopeNormForward(RopeShapeOf(c), c.in(0), c.out(0)); }
void GradRope(GradContext& c) {
  const auto d = c.Emit("rope_norm_grad", {c.output_gradient(0), c.input(0)}, c.attrs());
  c.SetInputGradient(0, d.front());
}
// inputs: dy, x
void RunRopeGrad(const RunContext& c) {
  tensor::RopeNormBackward(RopeShapeOf(c), c.in(1), c.in(0), c.out(0));
}
Work WorkRope(const OpCall& call) { return ElementwiseWork(call, 7); }
Work WorkRopeGrad(const OpCall& call) { return ElementwiseWork(call, 14); }

}  // namespace

const OpDef kRmsNorm = {
    "rms_norm", "y = x / sqrt(mean(x^2) + eps)", SameAsInput0, RunNorm, GradNorm, WorkNorm, -1,
    true};
const OpDef kRmsNormGrad = {"rms_norm_grad",
                            "dx = addend + rstd (dy - y mean(dy y))",
                            SameAsInput0,
                            RunNormGrad,
                            nullptr,
                            WorkNormGrad,
                            0};
const OpDef kRopeNorm = {
    "rope_norm", "y = gain * rmsnorm(rotate(x))", InferRope, RunRope, GradRope, WorkRope, -1, true,
    nullptr,     {"rope_norm_cached", 0, 0}};
const OpDef kRopeNormGrad = {
    "rope_norm_grad", "dx of rope_norm", SameAsInput0, RunRopeGrad, nullptr, WorkRopeGrad, 0};

}  // namespace wt::nn::ops
