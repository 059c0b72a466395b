// How much of SBUF and PSUM is taken, by partition and over time. A tensor counts from the start of
// its first access to the end of its last.
#pragma once

#include <vector>

#include "chip/program.h"
#include "chip/schedule.h"

namespace wt::chip {

struct MemoryPoint {
  double ns = 0;
  int64_t bytes = 0;  // over all partitions, from here on
};

struct MemoryUse {
  std::vector<int64_t> peak_by_partition;  // bytes
  std::vector<MemoryPoint> timeline;
  int64_t peak = 0;  // of the fullest partition
};

class MemoryCollector {
 public:
  MemoryCollector(const Program& program, Memory memory, int partitions);
  void Add(const TimedInstr& instr, const Scheduled& scheduled);
  MemoryUse Finish() const;

 private:
  struct Life {
    double begin_ns = -1, end_ns = -1;
  };
  const Program& program_;
  Memory memory_;
  size_t partitions_;
  // Slots are used again by later tensors; a tensor is one event that is no release.
  std::vector<uint32_t> tensor_of_access_;  // index into tensors_
  std::vector<uint32_t> tensors_;           // index into Program::decls
  std::vector<Life> lives_;                 // parallel to tensors_
};

}  // namespace wt::chip
