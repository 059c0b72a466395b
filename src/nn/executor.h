// Executor: runs a StepProgram on the host. Memory is planned and bound when it is made; running a
// phase allocates nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/memory_plan.h"
#include "nn/op.h"
#include "nn/tensor_store.h"

namespace wt::nn {

class Executor {
 public:
  // `store` supplies persistent tensors (made when absent) and must outlive the executor.
  static Result<std::unique_ptr<Executor>> Create(StepProgram program, TensorStore* store);

  // Runs the phase's nodes in order. A step is: kPrepare, then kForward and kBackward for each
  // micro-batch, then kOptimizer.
  void Run(Phase phase);

  // Gives inputs other shapes, of at most the bytes that they had at first; the shapes of all that
  // is computed follow. Memory stays as it was planned.
  Status Reshape(const std::vector<std::pair<ValueId, Shape>>& inputs);

  // An input's or result's memory, by name or id. Requires that it exists and has elements of type
  // T.
  template <class T>
  T* Data(ValueId id) {
    CheckType(id, DTypeOf<T>::value);
    return static_cast<T*>(memory_[static_cast<size_t>(id)]);
  }
  template <class T>
  T* Data(const std::string& name) {
    return Data<T>(Require(name));
  }

  const StepProgram& program() const { return program_; }
  const MemoryPlan& plan() const { return plan_; }
  // Arena, inputs and scratch; persistent tensors are the store's.
  int64_t bytes() const { return arena_.bytes() + inputs_.bytes() + scratch_.bytes(); }

  // Seconds spent in each node since the start, for profiles.
  const std::vector<double>& node_seconds() const { return node_seconds_; }

 private:
  explicit Executor(StepProgram program) : program_(std::move(program)) {}
  Status Bind(TensorStore* store);
  ValueId Require(const std::string& name) const;
  void CheckType(ValueId id, DType dtype) const;

  StepProgram program_;
  MemoryPlan plan_;
  std::vector<int64_t> planned_bytes_;  // per value
  Buffer arena_, inputs_, scratch_;
  std::vector<void*> memory_;  // per value
  std::vector<double> node_seconds_;
};

}  // namespace wt::nn
