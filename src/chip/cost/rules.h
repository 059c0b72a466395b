// Cost rules in words, for docs/ISA.md and for people who ask where a time comes from: one row a
// rule, with the laws and constants it reads.
#pragma once

#include <span>
#include <vector>

#include "chip/cost.h"
#include "chip/machine.h"

namespace wt::chip::cost {

using CostFunction = Cost (*)(const Machine& machine, const Instr& instr, Engine engine);

struct CostRule {
  const char* instruction;  // as in nki.isa
  CostFunction function;
  const char* text;  // how the law is chosen and what is counted
  std::vector<LawId> laws;
  std::vector<ConstantId> constants;
};

std::span<const CostRule> CostRules();
// Null when there is none.
const CostRule* FindCostRule(std::string_view instruction);

}  // namespace wt::chip::cost
