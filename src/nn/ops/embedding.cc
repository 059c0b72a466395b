// Table look-up by token id.
#include "tensor/embedding.h"

#include "nn/ops/ops.h"

namespace wt::nn::ops {
namespace {

// inputs: ids i32 [batch, time], table [vocab, width] -> y [batch, time, width] of attribute dtype
InferResult InferEmbedding(const OpCall& call) {
  if (call.input(0).dtype != DType::kI32 || call.input(1).shape.size() != 2) {
    return ShapeError("embedding", call, "ids i32 [batch, time] and a table [vocab, width]");
  }
  Shape shape = call.input(0).shape;
  shape.push_back(call.cols(1));
  return std::vector<ValueSpec>{{shape, static_cast<DType>(call.attrs().Int("dtype"))}};
}
void RunEmbedding(const RunContext& c) {
  tensor::EmbeddingForward(NumElements(c.input(0).shape), c.cols(1), c.rows(1), c.in_as<int32_t>(0),
                           c.in(1), c.out(0));
}
void GradEmbedding(GradContext& c) {
  c.Emit("embedding_grad", {c.output_gradient(0), c.input(0)}, {}, {c.ParameterGradient(1)});
}
// inputs: dy, ids; output: the table's gradient
InferResult InferEmbeddingGrad(const OpCall&) { return std::vector<ValueSpec>{}; }
void RunEmbeddingGrad(const RunContext& c) {
  tensor::EmbeddingBackward(c.rows(0), c.cols(0), c.output(0).shape[0], c.in_as<int32_t>(1),
                            c.in(0), c.out_as<float>(0));
}
// Only the rows that are looked up move.
Work WorkEmbedding(const OpCall& call) {
  Work work = ElementwiseWork(call, 0);
  work.read_bytes[1] = NumElements(call.output(0).shape) * DTypeBytes(call.input(1).dtype);
  return work;
}
Work WorkEmbeddingGrad(const OpCall& call) {
  Work work = ElementwiseWork(call, 1);
  work.written_bytes[0] = 2 * NumElements(call.input(0).shape) * DTypeBytes(DType::kF32);
  work.vector_flops = static_cast<double>(NumElements(call.input(0).shape));
  return work;
}

}  // namespace

const OpDef kEmbedding = {"embedding",  "y = table[ids]", InferEmbedding,
                          RunEmbedding, GradEmbedding,    WorkEmbedding};
const OpDef kEmbeddingGrad = {
    "embedding_grad", "dtable[ids] += dy", InferEmbeddingGrad, RunEmbeddingGrad,
    nullptr,          WorkEmbeddingGrad};

}  // namespace wt::nn::ops
