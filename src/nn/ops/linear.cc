// Matrix products with a weight: y = x W^T and its two gradients.
#include <cstring>

#include "nn/ops/ops.h"
#include "tensor/matmul.h"

namespace wt::nn::ops {
namespace {

Shape WithLast(Shape shape, int64_t last) {
  shape.back() = last;
  return shape;
}

// inputs: x [..., in], w [out, in] -> y [..., out] in the dtype of x
InferResult InferLinear(const OpCall& call) {
  const Value &x = call.input(0), &w = call.input(1);
  if (w.shape.size() != 2 || w.shape[1] != x.shape.back() || w.dtype != x.dtype) {
    return ShapeError("linear", call, "x [..., in] and w [out, in] of one dtype");
  }
  return std::vector<ValueSpec>{{WithLast(x.shape, w.shape[0]), x.dtype}};
}
void RunLinear(const RunContext& c) {
  tensor::MatMul(c.in_matrix(0), c.in_matrix(1).Transposed(), c.out_matrix(0));
}
Work WorkLinear(const OpCall& call) {
  return MatmulWork(call, static_cast<double>(call.rows(0)), static_cast<double>(call.rows(1)),
                    static_cast<double>(call.cols(0)));
}
void GradLinear(GradContext& c) {
  const ValueId dy = c.output_gradient(0);
  c.Emit("linear_wgrad", {dy, c.input(0)}, {}, {c.ParameterGradient(1)});
  if (!c.needs_gradient(0)) return;
  const ValueId addend = c.TakeInputGradient(0);
  c.SetInputGradient(0, c.Emit("linear_dgrad", {addend, dy, c.input(1)}, {}).front());
}

// inputs: addend or nothing [..., in], dy [..., out], w [out, in] -> dx = addend + dy W
InferResult InferDgrad(const OpCall& call) {
  return std::vector<ValueSpec>{{WithLast(call.input(1).shape, call.cols(2)), call.input(1).dtype}};
}
void RunDgrad(const RunContext& c) {
  const bool add = c.has_input(0);
  if (add && c.in(0).data != c.out(0).data) {
    std::memcpy(c.out(0).data, c.in(0).data, static_cast<size_t>(c.output(0).bytes()));
  }
  tensor::MatMul(c.in_matrix(1), c.in_matrix(2), c.out_matrix(0), add);
}
Work WorkDgrad(const OpCall& call) {
  return MatmulWork(call, static_cast<double>(call.rows(1)), static_cast<double>(call.cols(2)),
                    static_cast<double>(call.cols(1)));
}

// inputs: dy [..., out], x [..., in]; output: the parameter's gradient [out, in] += dy^T x
InferResult InferWgrad(const OpCall&) { return std::vector<ValueSpec>{}; }
void RunWgrad(const RunContext& c) {
  tensor::MatMul(c.in_matrix(0).Transposed(), c.in_matrix(1), c.out_matrix(0), /*accumulate=*/true);
}
Work WorkWgrad(const OpCall& call) {
  Work work = MatmulWork(call, static_cast<double>(call.cols(0)), static_cast<double>(call.cols(1)),
                         static_cast<double>(call.rows(0)));
  work.written_bytes[0] *= 2;  // the sum so far is read as well
  return work;
}

}  // namespace

const OpDef kLinear = {"linear", "y = x W^T", InferLinear, RunLinear, GradLinear, WorkLinear};
const OpDef kLinearDgrad = {
    "linear_dgrad", "dx = addend + dy W", InferDgrad, RunDgrad, nullptr, WorkDgrad, 0};
const OpDef kLinearWgrad = {"linear_wgrad", "dW += dy^T x", InferWgrad,
                            RunWgrad,       nullptr,        WorkWgrad};

}  // namespace wt::nn::ops
