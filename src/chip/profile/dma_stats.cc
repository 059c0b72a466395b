#include "chip/profile/dma_stats.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wt::chip {
namespace {

const Access* HbmRead(const Program& program, const TimedInstr& instr) {
  for (uint32_t i = 0; i < instr.num_accesses; ++i) {
    const Access& access = program.accesses[instr.first_access + i];
    if (!access.write && program.tensors[access.tensor].memory == Memory::kHbm) return &access;
  }
  return nullptr;
}

// Loads that fetch the same bytes in the same way again. Partial overlaps are not counted.
class ReloadCounter {
 public:
  bool SeenBefore(const Access& access, int64_t bytes) {
    return !seen_.insert({access.tensor, access.byte_begin, access.byte_end, bytes}).second;
  }

 private:
  std::set<std::tuple<TensorId, int64_t, int64_t, int64_t>> seen_;
};

}  // namespace

DmaStats CountDma(const Program& program, int64_t largest_descriptor,
                  int64_t saturating_descriptor) {
  DmaStats stats;
  ReloadCounter reloads;
  for (const TimedInstr& instr : program.instrs) {
    if (instr.dma < 0) continue;
    const DmaShape& dma = program.dmas[static_cast<size_t>(instr.dma)];
    ++stats.transfers;
    (dma.load ? stats.load_bytes : dma.store ? stats.store_bytes : stats.other_bytes) += dma.bytes;
    const int64_t size = std::clamp<int64_t>(dma.descriptor_bytes, 1, largest_descriptor);
    stats.descriptors += (dma.bytes + size - 1) / size;
    if (size < saturating_descriptor) stats.small_bytes += dma.bytes;
    const Access* read = dma.load ? HbmRead(program, instr) : nullptr;
    if (read && reloads.SeenBefore(*read, dma.bytes)) stats.reloaded_bytes += dma.bytes;
  }
  if (stats.descriptors > 0) {
    stats.average_descriptor_bytes =
        static_cast<double>(stats.bytes()) / static_cast<double>(stats.descriptors);
  }
  return stats;
}

}  // namespace wt::chip
