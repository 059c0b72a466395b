// Cost rules of the Scalar engine's activations: the function's law by where the data are, each
// tensor-valued bias or scale, and the second instruction that reads the accumulated sums.
#include "chip/cost/copy_law.h"
#include "chip/cost/count.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {
namespace {

Cost Function(const Machine& machine, const Instr& instr, int op, int data, int tensor_operands) {
  const ActivationRule& rule =
      machine.activation(static_cast<chip::Activation>(instr.args[static_cast<size_t>(op)].i));
  const LawId id = InPsum(instr.operand(data)) ? rule.law_psum : rule.law;
  Cost cost = ByLaw(machine, instr, id, Elements(instr, data));
  AddScalarOperand(machine, tensor_operands, &cost);
  cost.table_set = rule.table_set;
  return cost;
}

void ReadAccumulator(const Machine& machine, Cost* cost) {
  const Law& read = machine.law(LawId::kScalarReadAccumulator);
  cost->latency_ns = std::max(cost->latency_ns, cost->interval_ns + read.Completion(1));
  cost->interval_ns += read.Interval(1);
}

}  // namespace

Cost Activation(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::activation;
  Cost cost =
      Function(machine, instr, kOp, kData, IsOperand(instr, kBias) + IsOperand(instr, kScale));
  if (instr.has(kReduceRes)) ReadAccumulator(machine, &cost);
  return cost;
}

Cost ActivationReduce(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::activation_reduce;
  Cost cost =
      Function(machine, instr, kOp, kData, IsOperand(instr, kBias) + IsOperand(instr, kScale));
  ReadAccumulator(machine, &cost);
  return cost;
}

Cost Activate2(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::activate2;
  Cost cost =
      Function(machine, instr, kOp, kData, IsOperand(instr, kImm0) + IsOperand(instr, kImm1));
  if (instr.has(kReduceRes)) ReadAccumulator(machine, &cost);
  return cost;
}

}  // namespace wt::chip::cost
