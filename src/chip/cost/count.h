// What cost rules have in common: counting elements and turning a law of the machine file into a
// Cost.
#pragma once

#include "chip/cost.h"
#include "chip/machine.h"

namespace wt::chip::cost {

// Elements of one partition that an operand covers.
inline double Elements(const Instr& instr, int param) {
  return static_cast<double>(instr.operand(param).free_elements());
}
inline bool IsOperand(const Instr& instr, int param) {
  return instr.args[static_cast<size_t>(param)].kind == Arg::kOperand;
}
inline bool InPsum(const AccessPattern& pattern) { return pattern.tensor->memory == Memory::kPsum; }
inline bool Is16Bit(const AccessPattern& pattern) {
  return pattern.dtype == DType::kBF16 || pattern.dtype == DType::kF16;
}
// Step of the innermost dimension of more than one element; 1 for a single element.
int64_t InnermostStep(const AccessPattern& pattern);

// What the operands' innermost steps multiply a law's slope by: 1 up to a step of
// memory.stride_ramp_begin_bytes, more from there to stride_ramp_end_bytes.
double StrideFactor(const Machine& machine, const Instr& instr);

// The law for `elements` a partition, slowed by the operands' steps. Its evidence is the law's.
Cost ByLaw(const Machine& machine, const Instr& instr, LawId id, double elements);
// The same without a look at operands.
Cost ByLaw(const Law& law, double elements);

}  // namespace wt::chip::cost
