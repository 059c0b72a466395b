// Activation functions of the feed-forward layer.
#include "tensor/activation.h"

#include "nn/model_config.h"
#include "nn/ops/ops.h"

namespace wt::nn::ops {
namespace {

tensor::Activation Kind(const OpCall& call) {
  return static_cast<tensor::Activation>(call.attrs().Int("kind"));
}
float Slope(const OpCall& call) { return static_cast<float>(call.attrs().Real("slope")); }

void RunActivation(const RunContext& c) {
  tensor::ActivationForward(Kind(c), Slope(c), Count(c), c.in(0), c.out(0));
}
void GradActivation(GradContext& c) {
  const auto d = c.Emit("activation_grad", {c.output_gradient(0), c.input(0)}, c.attrs());
  c.SetInputGradient(0, d.front());
}
// inputs: dy, x
void RunActivationGrad(const RunContext& c) {
  tensor::ActivationBackward(Kind(c), Slope(c), Count(c), c.in(1), c.in(0), c.out(0));
}

InferResult InferSwiglu(const OpCall& call) {
  if (call.input(0).shape != call.input(1).shape) {
    return ShapeError("swiglu", call, "gate and up of one shape");
  }
  return SameAsInput0(call);
}
void RunSwiglu(const RunContext& c) { tensor::SwigluForward(Count(c), c.in(0), c.in(1), c.out(0)); }
void GradSwiglu(GradContext& c) {
  const auto d = c.Emit("swiglu_grad", {c.output_gradient(0), c.input(0), c.input(1)}, {});
  for (size_t i = 0; i < 2 && d.size() == 2; ++i) c.SetInputGradient(i, d[i]);
}
// inputs: dy, gate, up
InferResult InferSwigluGrad(const OpCall& call) {
  return std::vector<ValueSpec>{call.input(1), call.input(2)};
}
void RunSwigluGrad(const RunContext& c) {
  tensor::SwigluBackward(Count(c), c.in(1), c.in(2), c.in(0), c.out(0), c.out(1));
}

Work WorkActivation(const OpCall& call) { return ElementwiseWork(call, 2); }
Work WorkActivationGrad(const OpCall& call) { return ElementwiseWork(call, 3); }
Work WorkSwiglu(const OpCall& call) { return ElementwiseWork(call, 5); }
Work WorkSwigluGrad(const OpCall& call) { return ElementwiseWork(call, 9); }

}  // namespace

const OpDef kActivation = {"activation",
                           "y = f(x): relu2, leaky_relu2, gelu, silu",
                           SameAsInput0,
                           RunActivation,
                           GradActivation,
                           WorkActivation,
                           -1,
                           true};
const OpDef kActivationGrad = {"activation_grad",
                               "dx = dy f'(x)",
                               SameAsInput0,
                               RunActivationGrad,
                               nullptr,
                               WorkActivationGrad,
                               0};
const OpDef kSwiglu = {"swiglu",   "y = silu(gate) up", InferSwiglu, RunSwiglu,
                       GradSwiglu, WorkSwiglu,          -1,          true};
const OpDef kSwigluGrad = {"swiglu_grad", "dgate, dup of swiglu", InferSwigluGrad, RunSwigluGrad,
                           nullptr,       WorkSwigluGrad};

}  // namespace wt::nn::ops
