// Graph: how a model is written. Calls append forward nodes to a StepProgram; differentiate.h adds
// the backward pass, optimizer.h the update. A wrong call is remembered, not thrown: Finish()
// reports the first one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/op.h"

namespace wt::nn {

class Graph {
 public:
  // `compute_dtype` is what products see: f32 parameters are cast to it once a step.
  explicit Graph(DType compute_dtype) : compute_dtype_(compute_dtype) {}

  ValueId Input(const std::string& name, const Shape& shape, DType dtype);
  ValueId Parameter(const std::string& name, const Shape& shape, ParameterKind kind,
                    const Init& init);
  // The parameter in the compute dtype, as products read it.
  ValueId Weight(ValueId parameter);

  // Appends a node and returns its outputs; on a wrong call, values of no use.
  std::vector<ValueId> CallAll(const std::string& op, const std::vector<ValueId>& inputs,
                               const Attrs& attrs = {}, Phase phase = Phase::kForward,
                               const std::vector<ValueId>& persistent_outputs = {});
  ValueId Call(const std::string& op, const std::vector<ValueId>& inputs, const Attrs& attrs = {}) {
    return CallAll(op, inputs, attrs).front();
  }

  // Marks a value that block recomputation keeps: a block's input.
  void Checkpoint(ValueId value) { checkpoints_.push_back(value); }

  void set_scope(std::string scope) { scope_ = std::move(scope); }
  DType compute_dtype() const { return compute_dtype_; }
  const Shape& shape(ValueId id) const { return program_.value(id).shape; }
  const std::vector<ValueId>& checkpoints() const { return checkpoints_; }
  StepProgram& program() { return program_; }
  const StepProgram& program() const { return program_; }
  const Status& status() const { return status_; }
  // Remembers a failure found by a layer.
  void Fail(Status status);

  // Adds a persistent or input value. Requires a name not yet used.
  ValueId AddValue(const std::string& name, const ValueSpec& spec, Role role);

 private:
  ValueId AddActivation(const std::string& op, const ValueSpec& spec);

  DType compute_dtype_;
  StepProgram program_;
  std::vector<std::pair<ValueId, ValueId>> weights_;  // parameter and its cast
  std::vector<ValueId> checkpoints_;
  std::string scope_;
  Status status_;
};

}  // namespace wt::nn
