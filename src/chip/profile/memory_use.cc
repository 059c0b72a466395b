#include "chip/profile/memory_use.h"

#include <algorithm>

namespace wt::chip {
namespace {

struct Change {
  double ns;
  int64_t bytes;  // per partition; negative: freed
  size_t partition_begin, partition_end;
};

// Frees come before takes at the same moment.
bool Before(const Change& a, const Change& b) {
  return a.ns != b.ns ? a.ns < b.ns : a.bytes < b.bytes;
}

}  // namespace

MemoryCollector::MemoryCollector(const Program& program, Memory memory, int partitions)
    : program_(program), memory_(memory), partitions_(static_cast<size_t>(partitions)) {
  tensor_of_access_.resize(program.accesses.size());
  std::vector<uint32_t> in_slot;
  size_t event = 0;
  for (size_t i = 0; i < program.instrs.size(); ++i) {
    for (; event < program.events.size() && program.events[event].before <= program.first + i;
         ++event) {
      const TensorEvent& e = program.events[event];
      if (e.release) continue;
      if (in_slot.size() <= e.slot) in_slot.resize(e.slot + 1);
      in_slot[e.slot] = static_cast<uint32_t>(tensors_.size());
      tensors_.push_back(e.decl);
    }
    const TimedInstr& instr = program.instrs[i];
    for (uint32_t a = instr.first_access; a < instr.first_access + instr.num_accesses; ++a) {
      tensor_of_access_[a] = in_slot[program.accesses[a].slot];
    }
  }
  lives_.resize(tensors_.size());
}

void MemoryCollector::Add(const TimedInstr& instr, const Scheduled& scheduled) {
  for (uint32_t a = instr.first_access; a < instr.first_access + instr.num_accesses; ++a) {
    const uint32_t tensor = tensor_of_access_[a];
    if (program_.decls[tensors_[tensor]].memory != memory_) continue;
    Life& life = lives_[tensor];
    if (life.begin_ns < 0 || scheduled.start_ns < life.begin_ns) life.begin_ns = scheduled.start_ns;
    life.end_ns = std::max(life.end_ns, scheduled.done_ns);
  }
}

MemoryUse MemoryCollector::Finish() const {
  std::vector<Change> changes;
  for (size_t id = 0; id < lives_.size(); ++id) {
    if (lives_[id].begin_ns < 0) continue;
    const TensorDecl& tensor = program_.decls[tensors_[id]];
    const size_t begin =
        tensor.start_partition > 0 ? static_cast<size_t>(tensor.start_partition) : 0;
    const size_t end = std::min(partitions_, begin + static_cast<size_t>(tensor.partitions));
    changes.push_back({lives_[id].begin_ns, tensor.partition_bytes, begin, end});
    changes.push_back({lives_[id].end_ns, -tensor.partition_bytes, begin, end});
  }
  std::stable_sort(changes.begin(), changes.end(), Before);
  MemoryUse use;
  use.peak_by_partition.assign(partitions_, 0);
  std::vector<int64_t> now(partitions_, 0);
  int64_t sum = 0;
  for (const Change& change : changes) {
    for (size_t p = change.partition_begin; p < change.partition_end; ++p) {
      now[p] += change.bytes;
      use.peak_by_partition[p] = std::max(use.peak_by_partition[p], now[p]);
    }
    sum += change.bytes * static_cast<int64_t>(change.partition_end - change.partition_begin);
    if (!use.timeline.empty() && use.timeline.back().ns == change.ns) {
      use.timeline.back().bytes = sum;
    } else {
      use.timeline.push_back({change.ns, sum});
    }
  }
  use.peak = *std::max_element(use.peak_by_partition.begin(), use.peak_by_partition.end());
  return use;
}

}  // namespace wt::chip
