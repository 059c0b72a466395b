#include "nn/differentiate.h"

#include <algorithm>

namespace wt::nn {
namespace {

bool IsParameter(const Value& value) { return value.role == Role::kParameter; }

// The parameter behind a value: itself, or the source of its cast.
ValueId ParameterBehind(const StepProgram& program, ValueId id) {
  if (IsParameter(program.value(id))) return id;
  for (const Node& node : program.nodes) {
    if (node.phase == Phase::kPrepare && !node.outputs.empty() && node.outputs[0] == id &&
        !node.inputs.empty()) {
      return node.inputs[0];
    }
  }
  return kNoValue;
}

// needs[v]: some parameter reaches v.
std::vector<bool> MarkNeedsGradient(const StepProgram& program) {
  std::vector<bool> needs(program.values.size());
  for (size_t i = 0; i < program.values.size(); ++i) {
    needs[i] = IsParameter(program.values[i]) || program.values[i].role == Role::kCache;
  }
  for (const Node& node : program.nodes) {
    if (node.phase != Phase::kForward) continue;
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != kNoValue && needs[static_cast<size_t>(id)];
    });
    for (ValueId id : node.outputs) needs[static_cast<size_t>(id)] = any;
  }
  return needs;
}

void AddGradientValues(Graph* graph) {
  for (Parameter& parameter : graph->program().parameters) {
    const Value value = graph->program().value(parameter.value);
    parameter.gradient =
        graph->AddValue(value.name + ".grad", {value.shape, DType::kF32}, Role::kGradient);
  }
  graph->set_scope("gradients");
  for (size_t i = 0; i < graph->program().parameters.size(); ++i) {
    graph->CallAll("zero", {}, {}, Phase::kPrepare, {graph->program().parameters[i].gradient});
  }
}

}  // namespace

GradContext::GradContext(Graph* graph, size_t node_index, std::vector<ValueId>* gradients,
                         const std::vector<bool>* needs_gradient)
    : graph_(graph),
      node_index_(node_index),
      node_(graph->program().nodes[node_index]),
      gradients_(gradients),
      needs_gradient_(needs_gradient) {}

bool GradContext::needs_gradient(size_t i) const {
  return input(i) != kNoValue && (*needs_gradient_)[static_cast<size_t>(input(i))];
}

ValueId GradContext::TakeInputGradient(size_t i) {
  return std::exchange((*gradients_)[static_cast<size_t>(input(i))], kNoValue);
}

void GradContext::SetInputGradient(size_t i, ValueId gradient) {
  if (!needs_gradient(i)) return;
  ValueId& slot = (*gradients_)[static_cast<size_t>(input(i))];
  slot = slot == kNoValue ? gradient : Emit("add", {slot, gradient}, {}).front();
}

ValueId GradContext::ParameterGradient(size_t i) {
  const StepProgram& program = graph_->program();
  const ValueId source = ParameterBehind(program, input(i));
  for (const Parameter& parameter : program.parameters) {
    if (parameter.value == source) return parameter.gradient;
  }
  graph_->Fail(
      Error(Code::kInvalidArgument,
            "[{}] operand {} is '{}'; expected a parameter, since its gradient is summed over "
            "the step",
            node_.op->name, i, program.value(input(i)).name));
  return kNoValue;
}

std::vector<ValueId> GradContext::Emit(const std::string& op, const std::vector<ValueId>& inputs,
                                       const Attrs& attrs,
                                       const std::vector<ValueId>& persistent_outputs) {
  graph_->set_scope(node_.scope);
  std::vector<ValueId> outputs =
      graph_->CallAll(op, inputs, attrs, Phase::kBackward, persistent_outputs);
  gradients_->resize(graph_->program().values.size(), kNoValue);
  return outputs;
}

std::vector<ValueId> GradContext::ExtendForward(const std::string& op,
                                                const std::vector<ValueId>& persistent_outputs) {
  graph_->set_scope(node_.scope);
  const size_t old_outputs = node_.outputs.size();
  std::vector<ValueId> outputs =
      graph_->CallAll(op, node_.inputs, node_.attrs, Phase::kForward, persistent_outputs);
  gradients_->resize(graph_->program().values.size(), kNoValue);
  if (outputs.size() < old_outputs) return outputs;  // the graph has failed
  StepProgram& program = graph_->program();
  Node extended = program.nodes.back();
  program.nodes.pop_back();
  std::copy(node_.outputs.begin(), node_.outputs.end(), extended.outputs.begin());
  program.nodes[node_index_] = extended;
  return {outputs.begin() + static_cast<int64_t>(old_outputs), outputs.end()};
}

Status Differentiate(Graph* graph, ValueId loss) {
  WT_RETURN_IF_ERROR(graph->status());
  AddGradientValues(graph);
  const std::vector<bool> needs_gradient = MarkNeedsGradient(graph->program());
  if (!needs_gradient[static_cast<size_t>(loss)]) {
    return Error(Code::kInvalidArgument, "the loss does not depend on any parameter");
  }
  std::vector<ValueId> gradients(graph->program().values.size(), kNoValue);
  for (size_t i = graph->program().nodes.size(); i-- > 0;) {
    const Node node = graph->program().nodes[i];
    if (node.phase != Phase::kForward || !needs_gradient[static_cast<size_t>(node.outputs[0])])
      continue;
    const bool reached = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id == loss || gradients[static_cast<size_t>(id)] != kNoValue;
    });
    if (!reached) continue;
    if (!node.op->grad) {
      return Error(Code::kUnsupported, "[{}] in {}: this op has no derivative", node.op->name,
                   node.scope);
    }
    GradContext context(graph, i, &gradients, &needs_gradient);
    node.op->grad(context);
    WT_RETURN_IF_ERROR(graph->status());
  }
  return {};
}

}  // namespace wt::nn
