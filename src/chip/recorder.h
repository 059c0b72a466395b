// Watches a core and writes down what the scheduler needs: a Program, whole or in segments.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "chip/core.h"
#include "chip/program.h"

namespace wt::chip {

class Recorder : public CoreObserver {
 public:
  using SegmentSink = std::function<void(const Program& segment)>;

  explicit Recorder(std::shared_ptr<const SourceTable> sources);
  // Hands segments of `segment` instructions to `sink` as they fill up, instead of keeping all.
  Recorder(std::shared_ptr<const SourceTable> sources, SegmentSink sink, size_t segment);

  void OnAllocate(const Tensor& tensor) override;
  void OnRelease(const Tensor& tensor) override;
  void OnInstr(const Machine& machine, const Instr& instr) override;
  void OnDependency(uint64_t consumer, uint64_t producer) override;

  // What has been recorded and not handed on yet.
  const Program& program() const { return program_; }
  void Flush();

 private:
  // Where a matmul has written PSUM, so that the next one there adds to it.
  struct Written {
    int32_t row_begin, row_end;
    int64_t byte_begin, byte_end;
  };
  struct Live {
    uint32_t slot = 0;
    std::vector<Written> written;
  };

  uint32_t NextSlot();
  uint32_t DeclOf(const Tensor& tensor);
  Live& LiveOf(const Tensor& tensor);
  uint64_t next_number() const { return program_.first + program_.instrs.size(); }

  void AddCosts(const Machine& machine, const Instr& instr, TimedInstr& timed);
  void AddCost(const Machine& machine, const Instr& instr, Engine engine, TimedInstr& timed);
  void AddAccesses(const Instr& instr, TimedInstr& timed);
  void FollowAccumulation(const Instr& instr, TimedInstr& timed);

  Program program_;
  std::unordered_map<TensorId, Live> live_;
  std::deque<std::pair<uint32_t, uint64_t>> free_slots_;  // and when they became free
  uint32_t num_slots_ = 0;
  std::map<std::vector<int64_t>, uint32_t> decls_;  // by what makes two declarations one
  std::unordered_map<const InstrDef*, uint16_t> defs_;
  Instr candidate_;  // scratch
  SegmentSink sink_;
  size_t segment_ = 0;  // 0: keep everything
};

// The bytes that an operand touches, as Program keeps them; the caller sets slot and roles.
Access AccessOf(const AccessPattern& pattern);
// A transfer between two operands. `alignment_bytes`: of a whole beat on the way to HBM.
DmaShape DmaShapeOf(const AccessPattern& src, const AccessPattern& dst, int64_t alignment_bytes);

}  // namespace wt::chip
