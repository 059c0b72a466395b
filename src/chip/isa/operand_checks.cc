#include "chip/isa/operand_checks.h"

#include <algorithm>

namespace wt::chip::isa {

Status CheckPartitions(const Instr& instr, int param, int64_t expected) {
  const int64_t partitions = instr.operand(param).partitions();
  if (partitions == expected) return {};
  return KernelError(ErrorClass::kShape, "{} has {} partitions; expected {}",
                     OperandName(instr, param), partitions, expected);
}

Status CheckSamePartitions(const Instr& instr, std::initializer_list<int> params) {
  const int first = *params.begin();
  for (int param : params) {
    if (!instr.has(param)) continue;
    if (instr.operand(param).partitions() == instr.operand(first).partitions()) continue;
    return KernelError(
        ErrorClass::kShape, "{} has {} partitions, {} has {}; give both the same partition size",
        OperandName(instr, first), instr.operand(first).partitions(),
        instr.def->params[static_cast<size_t>(param)].name, instr.operand(param).partitions());
  }
  return {};
}

Status CheckSameDtype(const Instr& instr, int a, int b) {
  if (!instr.is_operand(b)) return {};
  const DType dtype_a = instr.operand(a).dtype;
  const DType dtype_b = instr.operand(b).dtype;
  if (dtype_a == dtype_b) return {};
  return KernelError(ErrorClass::kDtype, "{} is {}, {} is {}; expected one dtype for both",
                     OperandName(instr, a), DTypeName(dtype_a),
                     instr.def->params[static_cast<size_t>(b)].name, DTypeName(dtype_b));
}

Status CheckPartitionMultiple(const Instr& instr, int param, int64_t multiple) {
  const int64_t partitions = instr.operand(param).partitions();
  if (partitions > 0 && partitions % multiple == 0) return {};
  return KernelError(ErrorClass::kShape, "{} has {} partitions; expected a multiple of {}",
                     OperandName(instr, param), partitions, multiple);
}

Status CheckNotEmpty(const Instr& instr, int param) {
  if (instr.operand(param).elements() > 0) return {};
  return KernelError(ErrorClass::kShape, "{} has no elements; expected at least one",
                     OperandName(instr, param));
}

Status CheckFreeElements(const Instr& instr, int param, int64_t expected, const char* why) {
  const int64_t elements = instr.operand(param).free_elements();
  if (elements == expected) return {};
  return KernelError(ErrorClass::kShape, "{} has {} elements a partition; expected {}: {}",
                     OperandName(instr, param), elements, expected, why);
}

Status CheckFreeRange(const Instr& instr, int param, int64_t least, int64_t most) {
  const int64_t elements = instr.operand(param).free_elements();
  if (elements >= least && elements <= most) return {};
  return KernelError(ErrorClass::kFreeSize,
                     "{} has {} elements a partition; expected {} to {}: split or pad the tile",
                     OperandName(instr, param), elements, least, most);
}

Status CheckFreeDims(const Instr& instr, int param, int most) {
  const int dims = instr.operand(param).num_dims - 1;
  if (dims <= most) return {};
  return KernelError(ErrorClass::kFreeSize,
                     "{} has {} free dimensions; expected at most {}: flatten the view",
                     OperandName(instr, param), dims, most);
}

Status CheckOp(const Instr& instr, int param, std::initializer_list<AluOp> allowed) {
  if (!instr.has(param)) return {};
  const auto op = static_cast<AluOp>(ArgOf(instr, param).i);
  if (std::find(allowed.begin(), allowed.end(), op) != allowed.end()) return {};
  std::string names;
  for (AluOp other : allowed) {
    if (!names.empty()) names += ", ";
    names += AluOpName(other);
  }
  return KernelError(ErrorClass::kArgument, "{} is {}; expected one of: {}",
                     OperandName(instr, param), AluOpName(op), names);
}

const char* ReduceCmdName(ReduceCmd command) {
  constexpr const char* kNames[] = {"idle", "reset", "reduce", "reset_reduce", "load_reduce"};
  return kNames[static_cast<size_t>(command)];
}

Status CheckReduceCmd(const Instr& instr, int param, std::initializer_list<ReduceCmd> allowed) {
  if (!instr.has(param)) return {};
  const auto command = static_cast<ReduceCmd>(ArgOf(instr, param).i);
  if (std::find(allowed.begin(), allowed.end(), command) != allowed.end()) return {};
  std::string names;
  for (ReduceCmd other : allowed) {
    if (!names.empty()) names += ", ";
    names += ReduceCmdName(other);
  }
  return KernelError(ErrorClass::kArgument, "{} is {}; expected one of: {}",
                     OperandName(instr, param), ReduceCmdName(command), names);
}

Status CheckIntRange(const Instr& instr, int param, int64_t least, int64_t most) {
  if (!instr.has(param)) return {};
  const int64_t value = ArgOf(instr, param).i;
  if (value >= least && value <= most) return {};
  return KernelError(ErrorClass::kArgument, "{} is {}; expected {} to {}",
                     OperandName(instr, param), value, least, most);
}

}  // namespace wt::chip::isa
