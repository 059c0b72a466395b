// What a compiler does to loads of bytes that are on the chip already: it leaves them out. Tiles
// that nothing but loads writes stay in a part of SBUF, least recently used first out, and later
// loads of the same box of HBM become other names for them.
#pragma once

#include <list>
#include <map>
#include <vector>

#include "chip/machine.h"
#include "chip/policy.h"
#include "chip/program.h"

namespace wt::chip {

class LoadReuse {
 public:
  LoadReuse(const Machine& machine, const Policy& policy);

  bool active() const { return budget_bytes_ > 0; }
  // The next segment without the loads that need not happen. Valid until the next call.
  const Program& Apply(const Program& segment);
  // By instruction of the result: the number of the kernel's instruction.
  const std::vector<uint64_t>& origins() const { return origins_; }

 private:
  using Key = std::vector<int64_t>;
  // A tile that stays, in a slot of its own.
  struct Resident {
    Key key;
    uint32_t slot = 0;
    int64_t bytes = 0;
    int users = 0;  // slots of the kernel that stand for it
    bool listed = true;
  };
  using Place = std::list<Resident>::iterator;

  struct Seen {
    bool written = false;            // in this segment, by anything
    bool written_by_others = false;  // by anything but a load of all of it (tiles)
    uint32_t decl = ~0u;
  };

  void Look();
  const Access* LoadedBox(const TimedInstr& instr, const Access** tile) const;
  void Emit(const TimedInstr& instr, size_t at);
  void EmitEvents(uint64_t before);
  void Stand(uint32_t slot, Place place);
  void Leave(uint32_t slot);
  void Evict();
  void Unlist(Place place);
  void Forget(uint32_t slot);
  void Drop(Place place);
  uint32_t NewSlot();
  uint32_t SlotOf(uint32_t slot);

  int64_t budget_bytes_;
  const Program* in_ = nullptr;
  Program out_;
  std::vector<uint64_t> origins_, new_number_;
  std::vector<Seen> seen_;         // by slot of the kernel
  std::list<Resident> residents_;  // most recently used first; unlisted ones too
  std::map<Key, Place> by_key_;
  std::vector<Place> stands_for_;  // by slot of the kernel; end: itself
  std::vector<uint32_t> free_slots_;
  uint32_t next_slot_ = 0;
  int64_t bytes_ = 0;  // of listed residents
  size_t event_at_ = 0;
};

}  // namespace wt::chip
