// What every instruction must satisfy, read from its row's parameters: kinds, memories, element
// types, engines, generation, partitions, dimensions, sizes, bounds. The row's own check follows.
#pragma once

#include "chip/isa.h"
#include "chip/machine.h"

namespace wt::chip {

// Sets instr.roles and instr.engine from the arguments, so that front ends need only fill args and
// operands. Requires def.
void CompleteInstr(Instr& instr);

// The first rule that `instr` breaks. Requires a completed instruction.
Status CheckInstr(const Machine& machine, const Instr& instr);

// The engines that can execute this very instruction, the named one alone when there is a name.
// Empty when none can. Requires a completed instruction.
EngineSet CandidateEngines(const Machine& machine, const Instr& instr);

// For the checks of rows.

// "tensor_copy: dst"
std::string OperandName(const Instr& instr, int param);
// Two operands must span the same number of partitions and of elements in each.
Status CheckSameSize(const Instr& instr, int a, int b);
// A kSrcOrFloat parameter given as an operand must be [P, 1], P the partitions of `of`.
Status CheckColumn(const Instr& instr, int param, int of);
Status CheckNotBothPsum(const Instr& instr, int a, int b);
bool AnyInPsum(const Instr& instr);

}  // namespace wt::chip
