// What a compiler does to the instructions themselves before it schedules them: loads of what is
// there are left out, bodies of loops too narrow for the engines are merged, one partition that is
// read as many becomes a matrix product.
// Which of it happens is the policy's; the result is a program like any other.
#pragma once

#include <vector>

#include "chip/machine.h"
#include "chip/policy.h"
#include "chip/program.h"
#include "chip/schedule/load_reuse.h"

namespace wt::chip {

class Lowering {
 public:
  Lowering(const Machine& machine, const Policy& policy);

  // Whether the policy changes anything.
  bool active() const;
  // The next segment as the compiler would have it. Valid until the next call.
  const Program& Apply(const Program& segment);
  // By instruction of the result: the number of the kernel's (first) instruction it stands for.
  const std::vector<uint64_t>& origins() const { return origins_; }

 private:
  // A stretch of the segment that repeats itself.
  struct Run {
    size_t begin = 0, period = 0, times = 0;
    size_t end() const { return begin + period * times; }
  };

  void MakeKeys();
  Run FindRun(size_t begin, size_t shorter_than) const;
  bool RunsDry(const Run& run) const;
  size_t MergeWidth(const Run& run) const;
  bool Independent(const Run& run, size_t one, size_t other) const;
  bool CanMerge(const Run& run, size_t place) const;

  void EmitEvents(uint64_t before, bool releases_too);
  void Emit(size_t at);
  void EmitMerged(const Run& run, size_t first_time, size_t times);
  void EmitOne(TimedInstr instr, size_t from, size_t step, size_t times);
  void MergeCosts(TimedInstr& instr, size_t from, size_t step, size_t times) const;
  int32_t MergeDma(size_t from, size_t step, size_t times);
  Access BroadcastByProduct(const Access& access, size_t at);
  uint32_t ProductDecl(int64_t bytes, SourceId source);
  void MapEdges();
  uint64_t OriginOf(size_t at) const;

  const Machine* machine_;
  const Policy policy_;
  LoadReuse reuse_;
  const Program* in_ = nullptr;
  Program out_;
  std::vector<uint64_t> origins_, new_number_;
  std::vector<uint64_t> keys_;        // equal for executions of the same instruction
  std::vector<uint32_t> executions_;  // by source line, in the segment
  std::vector<uint8_t> drains_;       // by instruction: engines run dry before it
  size_t event_at_ = 0;
  std::vector<Access> accesses_;  // scratch
  std::vector<TensorEvent> held_releases_;
  uint32_t product_slot_ = 0;
  size_t decls_taken_ = 0;
  std::vector<uint32_t> decl_map_;
};

}  // namespace wt::chip
