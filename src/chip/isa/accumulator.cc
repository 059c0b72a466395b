#include "chip/isa/accumulator.h"

#include <algorithm>

#include "chip/isa/operand_checks.h"

namespace wt::chip::isa {

Result<std::vector<float>> BeginAccumulate(ExecuteContext& context, ReduceCmd command,
                                           float identity, int init, int64_t partitions) {
  if (command == ReduceCmd::kLoadReduce) return context.ReadScalars(init, partitions);
  std::vector<float> values(static_cast<size_t>(partitions), identity);
  if (command != ReduceCmd::kReduce) return values;
  if (!context.state().vector_accumulator_set) {
    return KernelError(ErrorClass::kUndefined,
                       "{}: reduce_cmd reduce goes on from the Vector accumulators, and nothing "
                       "has set them (idle leaves them unknown); begin with reset_reduce",
                       context.instr().def->name);
  }
  std::copy_n(context.state().vector_accumulator.begin(), partitions, values.begin());
  return values;
}

void EndAccumulate(ExecuteContext& context, ReduceCmd command, const std::vector<float>& values) {
  ExecuteState& state = context.state();
  state.vector_accumulator_set = command != ReduceCmd::kIdle;
  if (state.vector_accumulator_set)
    std::copy(values.begin(), values.end(), state.vector_accumulator.begin());
}

Status CheckAccumulate(const Instr& instr, ReduceCmd command, int result, int init, int data) {
  if (result >= 0 && instr.has(result)) {
    WT_RETURN_IF_ERROR(CheckColumn(instr, result, data));
    if (command == ReduceCmd::kIdle || command == ReduceCmd::kReset) {
      return KernelError(ErrorClass::kArgument,
                         "{} is given, and reduce_cmd does not accumulate; expected reset_reduce, "
                         "reduce or load_reduce",
                         OperandName(instr, result));
    }
  }
  if (init < 0) return {};
  WT_RETURN_IF_ERROR(CheckColumn(instr, init, data));
  if (instr.has(init) == (command == ReduceCmd::kLoadReduce)) return {};
  return KernelError(ErrorClass::kArgument, "{} is {}given; expected it exactly with load_reduce",
                     OperandName(instr, init), instr.has(init) ? "" : "not ");
}

}  // namespace wt::chip::isa
