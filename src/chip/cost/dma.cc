// Cost rules of transfers, registers and what two cores do together. For DMA instructions the cost
// is what their queue needs to issue them; the bytes' way is the scheduler's (schedule.h).
#include <algorithm>

#include "chip/cost/count.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {
namespace {

Cost Fixed(const Machine& machine, ConstantId id) {
  Cost cost;
  cost.interval_ns = cost.latency_ns = machine.constant(id);
  cost.evidence = machine.origin(id).evidence;
  return cost;
}

// By who makes the descriptors; hardware when the kernel leaves it open.
Cost Issue(const Machine& machine, DgeMode mode) {
  switch (mode) {
    case DgeMode::kNone:
      return Fixed(machine, ConstantId::kDmaIssuePrebuilt);
    case DgeMode::kSwdge:
      return Fixed(machine, ConstantId::kDmaIssueSwdge);
    default:
      return Fixed(machine, ConstantId::kDmaIssueHwdge);
  }
}

DgeMode ModeOf(const Instr& instr, int param) {
  return static_cast<DgeMode>(instr.args[static_cast<size_t>(param)].i);
}

}  // namespace

Cost DmaCopy(const Machine& machine, const Instr& instr, Engine) {
  return Issue(machine, ModeOf(instr, isa::dma_copy::kDgeMode));
}

Cost DmaTranspose(const Machine& machine, const Instr& instr, Engine) {
  return Issue(machine, ModeOf(instr, isa::dma_transpose::kDgeMode));
}

Cost DmaCompute(const Machine& machine, const Instr&, Engine) {
  return Issue(machine, DgeMode::kUnknown);
}

// The measured message, and the rate of the engines for what is longer.
Cost Sendrecv(const Machine& machine, const Instr& instr, Engine engine) {
  const auto bytes = static_cast<double>(instr.operand(isa::sendrecv::kSrc).bytes());
  const double rate = engine == Engine::kGpSimd ? machine.constant(ConstantId::kGpSimdDmaRate)
                                                : machine.constant(ConstantId::kDmaEngineRate) *
                                                      machine.constant(ConstantId::kDmaEngines);
  Cost cost = Fixed(machine, ConstantId::kSendrecv);
  cost.interval_ns += std::max(0.0, bytes - machine.constant(ConstantId::kSendrecvBytes)) / rate;
  cost.latency_ns = cost.interval_ns + machine.constant(ConstantId::kSendrecvWait);
  return cost;
}

Cost CoreBarrier(const Machine& machine, const Instr&, Engine) {
  return ByLaw(machine.law(LawId::kSyncBarrier), 0);
}

Cost RegisterMove(const Machine& machine, const Instr&, Engine) {
  return ByLaw(machine.law(LawId::kSyncRegisterMove), 0);
}

Cost RegisterLoad(const Machine& machine, const Instr&, Engine) {
  return ByLaw(machine.law(LawId::kSyncRegisterMemory), 0);
}

Cost RegisterStore(const Machine& machine, const Instr&, Engine) {
  return ByLaw(machine.law(LawId::kSyncRegisterMemory), 0);
}

}  // namespace wt::chip::cost
