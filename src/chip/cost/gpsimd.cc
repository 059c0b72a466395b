// Cost rules of instructions that only GpSimd executes.
#include <algorithm>
#include <cmath>

#include "chip/cost/count.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {

Cost Iota(const Machine& machine, const Instr& instr, Engine) {
  return ByLaw(machine, instr, LawId::kGpSimdIota, Elements(instr, isa::iota::kDst));
}

Cost AffineSelect(const Machine& machine, const Instr& instr, Engine) {
  return ByLaw(machine, instr, LawId::kGpSimdAffineSelect,
               Elements(instr, isa::affine_select::kDst));
}

// Elements of all partitions: one core after the other hands its part on.
Cost TensorPartitionReduce(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::tensor_partition_reduce;
  return ByLaw(machine, instr, LawId::kGpSimdPartitionReduce,
               static_cast<double>(instr.operand(kData).elements()));
}

// Each index costs a fixed part and its elements, which are read in words of 32 bits.
Cost LocalGather(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::local_gather;
  const double partitions_of_core =
      machine.constant(ConstantId::kPartitions) / machine.constant(ConstantId::kGpSimdCores);
  const Arg& valid = instr.args[kNumValidIndices];
  const Arg& each = instr.args[kNumElemPerIdx];
  const double indices =
      valid.is_number() ? valid.number() : Elements(instr, kIndex) * partitions_of_core;
  const double elements = each.is_number() ? each.number() : 1;
  const double size = static_cast<double>(DTypeBytes(instr.operand(kSrcBuffer).dtype));
  const double together = std::min(sizeof(uint32_t) / size, elements);
  const double streaming = machine.constant(ConstantId::kLocalGatherElement) * elements;
  const double overhead = (machine.constant(ConstantId::kLocalGatherFixed) + streaming) / streaming;
  return ByLaw(machine, instr, LawId::kGpSimdLocalGather, indices * elements * overhead / together);
}

Cost NcNGather(const Machine& machine, const Instr& instr, Engine) {
  const double elements = Elements(instr, isa::nc_n_gather::kDst);
  const double count =
      std::max(1.0, std::ceil(elements / machine.constant(ConstantId::kGatherIndices)));
  Cost cost = ByLaw(machine, instr, LawId::kGpSimdGather, elements);
  const double more = (count - 1) * machine.law(LawId::kGpSimdGather).interval_fixed_ns;
  cost.interval_ns += more;
  cost.latency_ns += more;
  return cost;
}

Cost SequenceBounds(const Machine& machine, const Instr& instr, Engine) {
  return ByLaw(machine, instr, LawId::kGpSimdIndex,
               Elements(instr, isa::sequence_bounds::kSegmentIds));
}

Cost NonzeroWithCount(const Machine& machine, const Instr& instr, Engine) {
  return ByLaw(machine, instr, LawId::kGpSimdIndex, Elements(instr, isa::nonzero_with_count::kSrc));
}

// So many cycles for each of the n candidates, and some for each of the K results.
Cost Topk(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::topk;
  const Law& law = machine.law(LawId::kGpSimdTopk);
  const double result = machine.constant(ConstantId::kTopkResult) / law.cycles_per_element;
  return ByLaw(law, instr.args[kN].number() + Elements(instr, kValDst) * result);
}

}  // namespace wt::chip::cost
