// The language-model head: product with the vocabulary, soft cap and cross entropy in one op, so
// that the [tokens, vocab] logits never exist as a whole.
#include "nn/ops/ops.h"
#include "tensor/cross_entropy.h"

namespace wt::nn::ops {
namespace {

// inputs: x [batch, time, width], w [vocab, width], targets i32 [batch, time], weights f32
// [predict]
tensor::HeadLossShape ShapeOf(const OpCall& call) {
  const Shape& x = call.input(0).shape;
  return {x[0],
          x[1],
          x[2],
          call.rows(1),
          static_cast<float>(call.attrs().Real("softcap")),
          static_cast<int>(call.cols(3))};
}
tensor::HeadLossInputs InputsOf(const RunContext& c) {
  return {c.in(0), c.in(1), c.in_as<int32_t>(2), c.in_as<float>(3)};
}

InferResult InferHeadLoss(const OpCall& call) {
  const Value& x = call.input(0);
  if (x.shape.size() != 3 || call.cols(1) != x.shape[2] || call.input(2).dtype != DType::kI32 ||
      NumElements(call.input(2).shape) != call.rows(0) || call.cols(3) > tensor::kMaxPredict) {
    return ShapeError(
        "head_loss", call,
        "x [batch, time, width], w [vocab, width], targets i32 [batch, time], weights");
  }
  return std::vector<ValueSpec>{{{1}, DType::kF32}, {{x.shape[0], x.shape[1]}, DType::kF32}};
}
void RunHeadLoss(const RunContext& c) {
  tensor::HeadLossForward(ShapeOf(c), InputsOf(c), c.out_as<float>(0), c.out_as<float>(1));
}
// The loss is the root of differentiation, so the gradient that reaches it is 1 and both passes can
// share one computation of the logits.
void GradHeadLoss(GradContext& c) {
  const auto added = c.ExtendForward("head_loss_train", {c.ParameterGradient(1)});
  c.SetInputGradient(0, added.front());
}

InferResult InferHeadLossTrain(const OpCall& call) {
  WT_ASSIGN_OR_RETURN(std::vector<ValueSpec> specs, InferHeadLoss(call));
  specs.push_back(call.input(0));
  return specs;
}
// outputs: loss, nll, d_x, and the gradient of w
void RunHeadLossTrain(const RunContext& c) {
  tensor::HeadLossForwardBackward(ShapeOf(c), InputsOf(c), 1.0f, c.out_as<float>(0),
                                  c.out_as<float>(1), c.out(2), c.out_as<float>(3));
}

// inputs: x [batch, time, width], w [vocab, width] -> f32 [batch, time, vocab]
InferResult InferLogits(const OpCall& call) {
  Shape shape = call.input(0).shape;
  shape.back() = call.rows(1);
  return std::vector<ValueSpec>{{shape, DType::kF32}};
}
void RunLogits(const RunContext& c) {
  tensor::LogitsForward(c.rows(0), c.cols(0), c.rows(1),
                        static_cast<float>(c.attrs().Real("softcap")), c.in(0), c.in(1),
                        c.out_as<float>(0));
}

// `products` of the size of the logits; softmax_flops per logit.
Work WorkWith(const OpCall& call, int products, double softmax_flops) {
  const auto n = static_cast<double>(call.rows(0)), v = static_cast<double>(call.rows(1));
  Work work = MatmulWork(call, n, v, static_cast<double>(call.cols(0)));
  work.matmul_flops *= products;
  work.vector_flops = softmax_flops * n * v;
  work.inner_elements = n * v;
  return work;
}
Work WorkHeadLoss(const OpCall& call) { return WorkWith(call, 1, 6); }
Work WorkHeadLossTrain(const OpCall& call) { return WorkWith(call, 3, 12); }
Work WorkLogits(const OpCall& call) { return WorkWith(call, 1, 2); }

}  // namespace

const OpDef kHeadLoss = {"head_loss",   "loss = sum_k weight_k mean nll_k of softcap(x W^T)",
                         InferHeadLoss, RunHeadLoss,
                         GradHeadLoss,  WorkHeadLoss};
const OpDef kHeadLossTrain = {"head_loss_train",
                              "head_loss with dx and dW from the same logits",
                              InferHeadLossTrain,
                              RunHeadLossTrain,
                              nullptr,
                              WorkHeadLossTrain};
const OpDef kLogits = {"logits", "softcap(x W^T)", InferLogits, RunLogits, nullptr, WorkLogits};

}  // namespace wt::nn::ops
