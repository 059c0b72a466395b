#include "chip/cost/count.h"

#include <algorithm>

namespace wt::chip::cost {

int64_t InnermostStep(const AccessPattern& pattern) {
  for (int i = pattern.num_dims - 1; i > 0; --i) {
    const Dim& dim = pattern.dims[static_cast<size_t>(i)];
    if (dim.size != 1) return dim.step;
  }
  return 1;
}

double StrideFactor(const Machine& machine, const Instr& instr) {
  int64_t widest = 0;
  for (const AccessPattern& operand : instr.operands) {
    if (!operand.on_chip()) continue;
    const int64_t step = InnermostStep(operand) * DTypeBytes(operand.dtype);
    widest = std::max(widest, std::abs(step));
  }
  const double begin = machine.constant(ConstantId::kStrideRampBegin);
  if (static_cast<double>(widest) <= begin) return 1;
  const double length = machine.constant(ConstantId::kStrideRampEnd) - begin;
  const double ramp = std::min(1.0, (static_cast<double>(widest) - begin) / length);
  return 1 + ramp * machine.constant(ConstantId::kStrideRampExtra);
}

Cost ByLaw(const Law& law, double elements) {
  Cost cost;
  cost.interval_ns = law.Interval(elements);
  cost.latency_ns = law.Completion(elements);
  cost.fixed_ns = law.interval_fixed_ns;
  cost.evidence = law.origin.evidence;
  return cost;
}

Cost ByLaw(const Machine& machine, const Instr& instr, LawId id, double elements) {
  return ByLaw(machine.law(id), elements * StrideFactor(machine, instr));
}

}  // namespace wt::chip::cost
