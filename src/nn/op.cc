#include "nn/op.h"

#include <numeric>

namespace wt::nn {

int64_t Work::bytes() const {
  return std::accumulate(read_bytes.begin(), read_bytes.end(), int64_t{0}) +
         std::accumulate(written_bytes.begin(), written_bytes.end(), int64_t{0});
}

int64_t OpCall::rows(size_t i) const {
  const Shape& shape = input(i).shape;
  return NumElements(shape) / shape.back();
}

Status InferShapes(StepProgram* program) {
  for (const Node& node : program->nodes) {
    WT_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs,
                        node.op->infer(OpCall(*program, node.attrs, node.inputs)));
    for (size_t i = 0; i < specs.size() && i < node.outputs.size(); ++i) {
      program->value(node.outputs[i]).shape = specs[i].shape;
    }
  }
  return {};
}

Work ElementwiseWork(const OpCall& call, double flops_per_element) {
  Work work;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    work.read_bytes.push_back(call.has_input(i) ? call.input(i).bytes() : 0);
  }
  for (size_t i = 0; i < call.num_outputs(); ++i) {
    work.written_bytes.push_back(call.output(i).bytes());
  }
  if (call.num_outputs()) {
    work.vector_flops = flops_per_element * static_cast<double>(NumElements(call.output(0).shape));
  }
  return work;
}

Work MatmulWork(const OpCall& call, double m, double n, double k) {
  Work work = ElementwiseWork(call, 0);
  work.matmul_flops = 2 * m * n * k;
  for (size_t i = call.num_inputs(); i-- > 0;) {  // the first operand that is given
    if (call.has_input(i)) work.matmul_dtype = call.input(i).dtype;
  }
  return work;
}

Status ShapeError(const char* op, const OpCall& call, const std::string& expected) {
  std::string given;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    if (!given.empty()) given += ", ";
    if (!call.has_input(i)) {
      given += "nothing";
      continue;
    }
    const Value& value = call.input(i);
    given += fmt::format("{} {}{}", value.name, DTypeName(value.dtype), ShapeText(value.shape));
  }
  return Error(Code::kInvalidArgument, "[{}] given {}; expected {}", op, given, expected);
}

}  // namespace wt::nn
