// What several instructions ask of their operands beyond legality.h: one function, and so one
// wording, for each question. All return ok or an error that names the instruction, the operand,
// what it has and what it should have.
#pragma once

#include <initializer_list>
#include <string>

#include "chip/error_class.h"
#include "chip/isa.h"
#include "chip/legality.h"

namespace wt::chip::isa {

// Operands that are not given are passed over.
Status CheckSamePartitions(const Instr& instr, std::initializer_list<int> params);
// Passes when `b` is given as a number.
Status CheckSameDtype(const Instr& instr, int a, int b);
Status CheckPartitions(const Instr& instr, int param, int64_t expected);
// At least one multiple.
Status CheckPartitionMultiple(const Instr& instr, int param, int64_t multiple);
Status CheckNotEmpty(const Instr& instr, int param);
Status CheckFreeElements(const Instr& instr, int param, int64_t expected, const char* why);
Status CheckFreeRange(const Instr& instr, int param, int64_t least, int64_t most);
Status CheckFreeDims(const Instr& instr, int param, int most);
// An argument that is not given passes: defaults are legal.
Status CheckOp(const Instr& instr, int param, std::initializer_list<AluOp> allowed);
Status CheckReduceCmd(const Instr& instr, int param, std::initializer_list<ReduceCmd> allowed);
Status CheckIntRange(const Instr& instr, int param, int64_t least, int64_t most);

inline const Arg& ArgOf(const Instr& instr, int param) {
  return instr.args[static_cast<size_t>(param)];
}
// `otherwise`: the default of the row, for an argument that is not given.
inline int64_t IntOf(const Instr& instr, int param, int64_t otherwise = 0) {
  return instr.has(param) ? ArgOf(instr, param).i : otherwise;
}

// The last parameter of nearly every instruction.
inline constexpr Param kNameParam = {"name", ParamKind::kString, "None", 0};

inline constexpr DTypeSet kFloatTypes = kComputeTypes & ~kIntegerTypes;

}  // namespace wt::chip::isa
