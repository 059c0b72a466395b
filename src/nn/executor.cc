#include "nn/executor.h"

#include <algorithm>
#include <chrono>

namespace wt::nn {
namespace {

int64_t Align(int64_t bytes) {
  return (bytes + MemoryPlan::kAlignment - 1) / MemoryPlan::kAlignment * MemoryPlan::kAlignment;
}

// Memory of the executor's own outside the arena.
bool Kept(const Value& value) { return value.role == Role::kInput || value.role == Role::kPool; }

int64_t ScratchBytes(const StepProgram& program) {
  int64_t most = 0;
  for (const Node& node : program.nodes) {
    if (!node.op->scratch_bytes) continue;
    const OpCall call(program, node.attrs, node.inputs, node.outputs);
    most = std::max(most, node.op->scratch_bytes(call));
  }
  return most;
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::Create(StepProgram program, TensorStore* store) {
  std::stable_sort(program.nodes.begin(), program.nodes.end(),
                   [](const Node& a, const Node& b) { return a.phase < b.phase; });
  std::unique_ptr<Executor> executor(new Executor(std::move(program)));
  WT_RETURN_IF_ERROR(executor->Bind(store));
  return executor;
}

Status Executor::Bind(TensorStore* store) {
  WT_RETURN_IF_ERROR(store->Prepare(program_));
  plan_ = PlanMemory(program_);
  int64_t input_bytes = 0;
  for (const Value& value : program_.values) {
    if (Kept(value)) input_bytes += Align(value.bytes());
  }
  WT_ASSIGN_OR_RETURN(arena_, Buffer::Allocate(plan_.arena_bytes));
  WT_ASSIGN_OR_RETURN(inputs_, Buffer::Allocate(input_bytes));
  WT_ASSIGN_OR_RETURN(scratch_, Buffer::Allocate(ScratchBytes(program_)));
  std::byte* next_input = inputs_.data();
  for (size_t id = 0; id < program_.values.size(); ++id) {
    const Value& value = program_.values[id];
    planned_bytes_.push_back(value.bytes());
    if (Kept(value)) {
      memory_.push_back(next_input);
      next_input += Align(value.bytes());
    } else if (value.role == Role::kActivation) {
      memory_.push_back(plan_.offset[id] < 0 ? nullptr : arena_.data() + plan_.offset[id]);
    } else {
      memory_.push_back(store->Find(value.name)->buffer.data());
    }
  }
  node_seconds_.assign(program_.nodes.size(), 0);
  return {};
}

Status Executor::Reshape(const std::vector<std::pair<ValueId, Shape>>& inputs) {
  for (const auto& [id, shape] : inputs) program_.value(id).shape = shape;
  WT_RETURN_IF_ERROR(InferShapes(&program_));
  for (size_t id = 0; id < program_.values.size(); ++id) {
    const Value& value = program_.values[id];
    WT_CHECK(value.bytes() <= planned_bytes_[id], "{} grew to {}, planned were {} bytes",
             value.name, ShapeText(value.shape), planned_bytes_[id]);
  }
  return {};
}

void Executor::Run(Phase phase) {
  using Clock = std::chrono::steady_clock;
  const std::span<std::byte> scratch(scratch_.data(), static_cast<size_t>(scratch_.bytes()));
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    if (node.phase != phase) continue;
    const auto start = Clock::now();
    node.op->run(RunContext(program_, node, memory_, scratch));
    node_seconds_[i] += std::chrono::duration<double>(Clock::now() - start).count();
  }
}

ValueId Executor::Require(const std::string& name) const {
  const ValueId id = program_.FindValue(name);
  WT_CHECK(id != kNoValue, "the program has no value named {}", name);
  return id;
}

void Executor::CheckType(ValueId id, DType dtype) const {
  const Value& value = program_.value(id);
  WT_CHECK(value.dtype == dtype, "{} is {}, asked for as {}", value.name, DTypeName(value.dtype),
           DTypeName(dtype));
}

}  // namespace wt::nn
