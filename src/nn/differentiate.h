// Reverse-mode differentiation of a graph: walks the forward nodes backwards and asks each op's
// derivative rule for its backward nodes. The gradients of parameters are persistent fp32 values
// that rules add to.
#pragma once

#include <vector>

#include "nn/graph.h"

namespace wt::nn {

// Appends the backward pass for `loss`, an output of a head_loss node, and zeroes gradients in the
// prepare phase.
Status Differentiate(Graph* graph, ValueId loss);

// What a derivative rule sees: one forward node and the gradients of its outputs.
class GradContext {
 public:
  GradContext(Graph* graph, size_t node_index, std::vector<ValueId>* gradients,
              const std::vector<bool>* needs_gradient);

  const Node& node() const { return node_; }
  const Attrs& attrs() const { return node_.attrs; }
  ValueId input(size_t i) const { return node_.inputs[i]; }
  ValueId output(size_t i) const { return node_.outputs[i]; }
  const Value& value(ValueId id) const { return graph_->program().value(id); }
  bool needs_gradient(size_t input) const;

  ValueId output_gradient(size_t i) const { return (*gradients_)[static_cast<size_t>(output(i))]; }

  // The gradient that other readers of the input have already contributed (kNoValue: none), handed
  // over: the rule must add it into what it then passes to SetInputGradient.
  ValueId TakeInputGradient(size_t i);
  // Gives the gradient of an input; added to what is already there.
  void SetInputGradient(size_t i, ValueId gradient);
  // The persistent gradient of the parameter that this input is (or is the cast of).
  ValueId ParameterGradient(size_t i);

  // Appends a backward node.
  std::vector<ValueId> Emit(const std::string& op, const std::vector<ValueId>& inputs,
                            const Attrs& attrs,
                            const std::vector<ValueId>& persistent_outputs = {});
  // Turns the forward node into `op`, which computes the same first outputs and more besides;
  // returns the outputs that were added.
  std::vector<ValueId> ExtendForward(const std::string& op,
                                     const std::vector<ValueId>& persistent_outputs);

 private:
  Graph* graph_;
  size_t node_index_;
  Node node_;  // a copy: the program's list grows while rules run
  std::vector<ValueId>* gradients_;
  const std::vector<bool>* needs_gradient_;
};

}  // namespace wt::nn
