#include "chip/schedule/load_reuse.h"

#include <algorithm>

namespace wt::chip {

namespace {

// Slots for tiles that stay lie before the kernel's own.
constexpr uint32_t kReuseSlots = 8192;

}  // namespace

LoadReuse::LoadReuse(const Machine& machine, const Policy& policy)
    : budget_bytes_(static_cast<int64_t>(
          policy.load_reuse_share * static_cast<double>(machine.sbuf_usable_partition_bytes))) {}

const Program& LoadReuse::Apply(const Program& segment) {
  in_ = &segment;
  out_.first += out_.instrs.size();
  out_.instrs.clear();
  out_.accesses.clear();
  out_.dmas = segment.dmas;
  out_.edges.clear();
  out_.events.clear();
  out_.decls = segment.decls;
  origins_.clear();
  new_number_.clear();
  event_at_ = 0;
  Look();
  for (size_t at = 0; at < segment.instrs.size(); ++at) {
    EmitEvents(segment.first + at);
    new_number_.push_back(out_.first + out_.instrs.size());
    Emit(segment.instrs[at], at);
  }
  EmitEvents(~uint64_t{0});
  for (const DeclaredEdge& edge : segment.edges) {
    if (edge.from < segment.first || edge.to >= segment.first + segment.size()) continue;
    out_.edges.push_back(
        {new_number_[edge.to - segment.first], new_number_[edge.from - segment.first]});
  }
  return out_;
}

// What the segment does to each slot, all tensors in it taken together.
void LoadReuse::Look() {
  for (const TensorEvent& event : in_->events) {
    if (event.slot >= seen_.size()) seen_.resize(event.slot + 1);
  }
  stands_for_.resize(seen_.size(), residents_.end());
  for (Seen& seen : seen_) seen.written = seen.written_by_others = false;
  for (const TimedInstr& instr : in_->instrs) {
    for (int i = 0; i < instr.num_accesses; ++i) {
      const Access& access = in_->accesses[instr.first_access + static_cast<size_t>(i)];
      if (!access.write || access.slot >= seen_.size()) continue;
      const bool load = instr.dma >= 0 && in_->dmas[static_cast<size_t>(instr.dma)].load;
      seen_[access.slot].written = true;
      seen_[access.slot].written_by_others |= !(load && access.whole && !access.read);
    }
  }
  for (auto at = residents_.begin(); at != residents_.end();) {
    const Place place = at++;
    if (seen_[static_cast<size_t>(place->key[0])].written) Unlist(place);
  }
}

// No later load finds it.
void LoadReuse::Unlist(Place place) {
  if (!place->listed) return;
  place->listed = false;
  bytes_ -= place->bytes;
  by_key_.erase(place->key);
  if (place->users == 0) Drop(place);
}

// The HBM tensor in `slot` is gone.
void LoadReuse::Forget(uint32_t slot) {
  for (auto at = residents_.begin(); at != residents_.end();) {
    const Place place = at++;
    if (place->key[0] == slot) Unlist(place);
  }
}

// The HBM box that the instruction loads into a tile that may stay; null: it is no such load.
const Access* LoadReuse::LoadedBox(const TimedInstr& instr, const Access** tile) const {
  if (instr.dma < 0 || instr.num_accesses != 2) return nullptr;
  const DmaShape& dma = in_->dmas[static_cast<size_t>(instr.dma)];
  if (!dma.load || dma.transpose || dma.accumulate || instr.ordered_group != 0) return nullptr;
  const Access* a = &in_->accesses[instr.first_access];
  const Access* to = a->write ? a : a + 1;
  const Access* from = a->write ? a + 1 : a;
  if (!to->write || !to->whole || from->write || std::max(to->slot, from->slot) >= seen_.size()) {
    return nullptr;
  }
  if (seen_[to->slot].written_by_others || seen_[from->slot].written) return nullptr;
  const uint32_t decl = seen_[to->slot].decl;
  if (decl >= in_->decls.size() || in_->decls[decl].memory != Memory::kSbuf ||
      in_->decls[decl].address_byte >= 0) {
    return nullptr;
  }
  *tile = to;
  return from;
}

void LoadReuse::Emit(const TimedInstr& instr, size_t at) {
  const Access* tile = nullptr;
  if (const Access* box = LoadedBox(instr, &tile)) {
    const uint32_t decl = seen_[tile->slot].decl;
    const Key key = {box->slot,     box->pitch, box->row_begin, box->row_end, box->byte_begin,
                     box->byte_end, decl};
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      residents_.splice(residents_.begin(), residents_, found->second);
      Stand(tile->slot, found->second);
      return;
    }
    const int64_t bytes = in_->decls[decl].partition_bytes;
    if (bytes <= budget_bytes_ && next_slot_ - free_slots_.size() < kReuseSlots) {
      residents_.push_front({key, NewSlot(), bytes, 0, true});
      by_key_[key] = residents_.begin();
      bytes_ += bytes;
      out_.events.push_back(
          {out_.first + out_.instrs.size(), residents_.front().slot, decl, false});
      Stand(tile->slot, residents_.begin());
      Evict();
    } else {
      Leave(tile->slot);
    }
  }
  TimedInstr copy = instr;
  copy.first_access = static_cast<uint32_t>(out_.accesses.size());
  for (int i = 0; i < instr.num_accesses; ++i) {
    Access access = in_->accesses[instr.first_access + static_cast<size_t>(i)];
    // A tile that others write, in this segment, stands for itself again.
    if (access.write && access.slot < seen_.size() && seen_[access.slot].written_by_others) {
      Leave(access.slot);
    }
    access.slot = SlotOf(access.slot);
    out_.accesses.push_back(access);
  }
  out_.instrs.push_back(copy);
  origins_.push_back(in_->first + at);
}

void LoadReuse::EmitEvents(uint64_t before) {
  for (; event_at_ < in_->events.size() && in_->events[event_at_].before <= before; ++event_at_) {
    TensorEvent event = in_->events[event_at_];
    Leave(event.slot);
    const uint32_t old = seen_[event.slot].decl;
    if (old < in_->decls.size() && in_->decls[old].memory == Memory::kHbm) Forget(event.slot);
    if (!event.release) seen_[event.slot].decl = event.decl;
    event.before = out_.first + out_.instrs.size();
    event.slot += kReuseSlots;
    out_.events.push_back(event);
  }
}

uint32_t LoadReuse::SlotOf(uint32_t slot) {
  const bool stands = slot < stands_for_.size() && stands_for_[slot] != residents_.end();
  return stands ? stands_for_[slot]->slot : slot + kReuseSlots;
}

void LoadReuse::Stand(uint32_t slot, Place place) {
  if (stands_for_[slot] == place) return;
  Leave(slot);
  stands_for_[slot] = place;
  ++place->users;
}

void LoadReuse::Leave(uint32_t slot) {
  if (slot >= stands_for_.size() || stands_for_[slot] == residents_.end()) return;
  const Place place = stands_for_[slot];
  stands_for_[slot] = residents_.end();
  if (--place->users == 0 && !place->listed) Drop(place);
}

// Takes the least recently used off the list until the rest fits.
void LoadReuse::Evict() {
  while (bytes_ > budget_bytes_) {
    const auto oldest = std::find_if(residents_.rbegin(), residents_.rend(),
                                     [](const Resident& resident) { return resident.listed; });
    Unlist(std::prev(oldest.base()));
  }
}

void LoadReuse::Drop(Place place) {
  out_.events.push_back({out_.first + out_.instrs.size(), place->slot, 0, true});
  free_slots_.push_back(place->slot);
  residents_.erase(place);
}

uint32_t LoadReuse::NewSlot() {
  if (free_slots_.empty()) return next_slot_++;
  const uint32_t slot = free_slots_.front();
  free_slots_.erase(free_slots_.begin());
  return slot;
}

}  // namespace wt::chip
