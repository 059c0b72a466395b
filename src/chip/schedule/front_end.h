// From recorded instructions to records in the ring: which engine, which buffers, which hazards.
// Works in program order, as a compiler does; when anything happens is not known here.
#pragma once

#include <memory>
#include <vector>

#include "chip/schedule/hbm_regions.h"
#include "chip/schedule/placement.h"
#include "chip/schedule/record.h"
#include "chip/schedule/timing.h"

namespace wt::chip {

class FrontEnd {
 public:
  FrontEnd(const Timing& timing, const Policy& policy, Ring* ring, EdgePool* edges);

  // Begins a segment, which must stay until it is exhausted. `origins`: by its instructions, the
  // kernel's own numbers; null: they are the same. `last`: no more will come.
  Status Begin(const Program& segment, const std::vector<uint64_t>* origins, bool last);
  bool exhausted() const { return program_ == nullptr || at_ == program_->instrs.size(); }
  const TimedInstr& Peek() const { return program_->instrs[at_]; }
  size_t left() const { return program_->instrs.size() - at_; }  // of the segment
  Number next_number() const { return next_; }

  // Makes the record of the next instruction and its edges. Instructions older than `oldest` have
  // left the ring: they are over, nothing waits for them. `floor_ns`: nothing may start before.
  Number Take(Number oldest, double floor_ns);

  const Space& sbuf() const { return sbuf_; }
  const Space& psum() const { return psum_; }
  int num_queues() const { return num_queues_; }

 private:
  struct Slot {
    uint32_t decl = kNoId;
    BufferId buffer = kNoId;  // current version's; on-chip only
    uint32_t version = 0;
    int64_t address_byte = -1;    // fixed by the kernel
    Number last_write = kNobody;  // of any byte
    Engine writer = Engine::kUnknown;
    Memory memory = Memory::kSbuf;
    bool tracked = false;  // HBM: something writes it, so that reads matter
    Number last_reader = kNobody;
    size_t touches = 0, prune_at = 256;
    RegionList regions = kNoRegions;  // registers
    std::unique_ptr<HbmRegions> hbm;
  };
  // What a look through the segment tells of the tensors that a slot holds in it.
  struct Ahead {
    bool used_later = false, written = false;
    uint32_t decl = kNoId;
    uint32_t pitch = 0;  // of the first access that has one
    int32_t rows = 1;
  };

  Status LookAhead(bool last);
  bool LookAheadAt(const TimedInstr& instr);
  void ApplyEvents();
  void Allocate(const TensorEvent& event);
  void LetGo(Slot& slot);
  bool StartsVersion(const TimedInstr& instr, const Access& access, const TensorDecl& decl) const;

  Engine Choose(const TimedInstr& instr) const;
  Engine ForCopy(const TimedInstr& instr) const;
  Engine ForArithmetic(const TimedInstr& instr) const;
  bool TouchesPsum(const TimedInstr& instr) const;
  int QueueOf(const TimedInstr& instr, Engine engine);
  void Fill(const TimedInstr& instr, Engine engine, Record& record);
  void Touch(const Access& access, const TimedInstr& instr, Record& record);
  void TouchHbm(Slot& slot, const Access& access, Record& record);
  // The regions of the tile's buffer and, in `box`, the access in its bytes.
  RegionList& Place(Slot& slot, const Access& access, const TimedInstr& instr, Box& box);
  Space& space(const Slot& slot) { return slot.memory == Memory::kPsum ? psum_ : sbuf_; }
  void TouchRegions(RegionList& regions, const Box& box, const Access& access, uint32_t version,
                    Record& record);
  uint64_t WeightsKey(const Slot& slot, const Access& access) const;

  void OnConflict(const Conflict& conflict, uint32_t version, const Access& access, Record& record);
  void AddEdge(Number from, Record& record, Wait wait, bool at_issue);
  void AddNamedEdges(const TimedInstr& instr, Record& record);

  const Timing timing_;
  const Policy policy_;
  Ring* ring_;
  EdgePool* edges_;
  RegionPool regions_;
  Space sbuf_, psum_;

  const Program* program_ = nullptr;
  const std::vector<uint64_t>* origins_ = nullptr;
  size_t at_ = 0, event_at_ = 0, edge_at_ = 0;
  Number next_ = 0, oldest_ = 0;
  Number last_edge_from_ = kNobody;
  bool last_edge_at_issue_ = false;
  std::vector<uint8_t> last_use_;  // by access of the segment: the tile dies here
  std::vector<Ahead> ahead_;       // by slot
  std::vector<Slot> slots_;
  size_t decls_seen_ = 0;
  RegionList sbuf_fixed_ = kNoRegions, psum_fixed_ = kNoRegions;  // tensors with addresses
  uint32_t next_version_ = 0;

  std::array<double, kNumEngines> load_ns_{};  // running, by engine
  int num_queues_ = kFirstDmaQueue;
  uint32_t load_turn_ = 0, store_turn_ = 0;
  struct GroupTail {
    uint32_t group = 0;
    std::array<Number, kMaxQueues> last;
  };
  GroupTail group_;  // of the newest no_reorder block
};

}  // namespace wt::chip
