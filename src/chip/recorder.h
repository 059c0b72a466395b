// Turns what a core does into a Program: each instruction becomes the engines that can run it,
// their costs and the bytes it touches. The scheduler's front door.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "chip/core.h"
#include "chip/program.h"

namespace wt::chip {

class Recorder : public CoreObserver {
 public:
  // Takes segments of at most `segment` instructions as they fill up; without it the whole program
  // is kept.
  using SegmentSink = std::function<void(const Program& segment)>;

  explicit Recorder(std::shared_ptr<const SourceTable> sources);
  Recorder(std::shared_ptr<const SourceTable> sources, SegmentSink sink, size_t segment);

  void OnAllocate(const Tensor& tensor) override;
  void OnRelease(const Tensor& tensor) override;
  void OnInstr(const Machine& machine, const Instr& instr) override;

  // What has been recorded and not handed on yet.
  const Program& program() const { return program_; }
  void Flush();

 private:
  struct Box {
    int32_t row_begin, row_end;
    int64_t byte_begin, byte_end;
  };
  struct Slot {
    uint32_t slot = 0;
    std::vector<Box> products;  // PSUM that nc_matmul has written: the next product there adds
  };
  uint32_t DeclOf(const Tensor& tensor);
  void AddAccesses(const Instr& instr, TimedInstr* timed);
  void AddCosts(const Machine& machine, const Instr& instr, TimedInstr* timed);
  void AddProduct(const Instr& instr, TimedInstr* timed);
  void AddDma(const Instr& instr, TimedInstr* timed);

  Program program_;
  SegmentSink sink_;
  size_t segment_ = 0;  // 0: keep everything
  std::unordered_map<TensorId, Slot> slots_;
  std::vector<uint32_t> free_slots_;
  uint32_t num_slots_ = 0;
  std::unordered_multimap<SourceId, uint32_t> decls_by_source_;
};

// The box of bytes that an operand touches (program.h).
Access AccessOf(const AccessPattern& pattern);

}  // namespace wt::chip
