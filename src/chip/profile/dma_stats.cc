#include "chip/profile/dma_stats.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wt::chip {
namespace {

// The bytes of HBM that a load reads, as the key of "the same again".
using Region = std::tuple<uint32_t, int32_t, int32_t, int64_t, int64_t, int64_t>;

// Loads that fetch the same bytes again. Partial overlaps are not counted.
class ReloadCounter {
 public:
  explicit ReloadCounter(const Program& program) : program_(program) {
    for (const TensorEvent& event : program.events) {
      if (event.release || program.decls[event.decl].memory != Memory::kHbm) continue;
      if (hbm_slots_.size() <= event.slot) hbm_slots_.resize(event.slot + 1);
      hbm_slots_[event.slot] = true;
    }
  }

  bool SeenBefore(const TimedInstr& instr, int64_t bytes) {
    for (uint32_t a = instr.first_access; a < instr.first_access + instr.num_accesses; ++a) {
      const Access& access = program_.accesses[a];
      if (access.write || access.slot >= hbm_slots_.size() || !hbm_slots_[access.slot]) continue;
      return !seen_
                  .insert({access.slot, access.row_begin, access.row_end, access.byte_begin,
                           access.byte_end, bytes})
                  .second;
    }
    return false;
  }

 private:
  const Program& program_;
  std::vector<bool> hbm_slots_;
  std::set<Region> seen_;
};

}  // namespace

DmaStats CountDma(const Program& program, const Machine& machine) {
  DmaStats stats;
  const auto largest = static_cast<int64_t>(machine.constant(ConstantId::kDmaMaxDescriptor));
  const auto efficient = static_cast<int64_t>(machine.constant(ConstantId::kDmaElementBytes));
  ReloadCounter reloads(program);
  for (const TimedInstr& instr : program.instrs) {
    if (instr.dma < 0) continue;
    const DmaShape& dma = program.dmas[static_cast<size_t>(instr.dma)];
    ++stats.transfers;
    (dma.load ? stats.load_bytes : dma.store ? stats.store_bytes : stats.other_bytes) += dma.bytes;
    const int64_t size = std::clamp<int64_t>(dma.descriptor_bytes, 1, largest);
    stats.descriptors += (dma.bytes + size - 1) / size;
    if (size < efficient) stats.small_bytes += dma.bytes;
    if (dma.load && reloads.SeenBefore(instr, dma.bytes)) stats.reloaded_bytes += dma.bytes;
  }
  if (stats.descriptors > 0) {
    stats.average_descriptor_bytes =
        static_cast<double>(stats.bytes()) / static_cast<double>(stats.descriptors);
  }
  return stats;
}

}  // namespace wt::chip
