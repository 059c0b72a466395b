#include "chip/schedule/front_end.h"

#include <algorithm>

namespace wt::chip {

namespace {

SpaceShape SbufShape(const Timing& timing, const Policy& policy) {
  return {timing.sbuf_bytes, 4, 0, policy.sbuf_copies, false};
}

SpaceShape PsumShape(const Timing& timing, const Policy& policy) {
  // Tiles go round all banks, whoever had them before.
  return {timing.psum_bytes, policy.psum_granule_bytes, timing.psum_bank_bytes, policy.psum_copies,
          true};
}

}  // namespace

FrontEnd::FrontEnd(const Timing& timing, const Policy& policy, Ring* ring, EdgePool* edges)
    : timing_(timing),
      policy_(policy),
      ring_(ring),
      edges_(edges),
      sbuf_(SbufShape(timing, policy), &regions_),
      psum_(PsumShape(timing, policy), &regions_) {
  const int directions = policy.split_load_store_queues ? 2 : 1;
  num_queues_ =
      kFirstDmaQueue + std::min(kMaxQueues - kFirstDmaQueue, policy.dma_queues * directions);
}

Status FrontEnd::Begin(const Program& segment, const std::vector<uint64_t>* origins, bool last) {
  program_ = &segment;
  origins_ = origins;
  at_ = event_at_ = edge_at_ = 0;
  for (; decls_seen_ < segment.decls.size(); ++decls_seen_) {
    const TensorDecl& decl = segment.decls[decls_seen_];
    if (decl.address_byte < 0 || !IsOnChip(decl.memory)) continue;
    (decl.memory == Memory::kPsum ? psum_ : sbuf_)
        .Reserve(decl.address_byte, decl.address_byte + decl.partition_bytes);
  }
  return LookAhead(last);
}

// Walks the segment backward: which access of a tile is the last before it is overwritten as a
// whole or let go.
Status FrontEnd::LookAhead(bool last) {
  const Program& program = *program_;
  ahead_.assign(std::max(ahead_.size(), slots_.size()), Ahead{});
  for (const TensorEvent& event : program.events) {
    if (event.slot >= ahead_.size()) ahead_.resize(event.slot + 1);
  }
  for (size_t i = 0; i < slots_.size(); ++i) ahead_[i].decl = slots_[i].decl;
  std::vector<uint32_t> decl_before(program.events.size(), kNoId);
  for (size_t i = 0; i < program.events.size(); ++i) {
    Ahead& ahead = ahead_[program.events[i].slot];
    decl_before[i] = ahead.decl;
    if (!program.events[i].release) ahead.decl = program.events[i].decl;
  }
  for (Ahead& ahead : ahead_) ahead.used_later = !last;

  last_use_.assign(program.accesses.size(), 0);
  size_t event = program.events.size();
  for (size_t i = program.instrs.size(); i-- > 0;) {
    for (; event > 0 && program.events[event - 1].before > program.first + i; --event) {
      Ahead& ahead = ahead_[program.events[event - 1].slot];
      ahead.used_later = false;
      ahead.decl = decl_before[event - 1];
    }
    if (!LookAheadAt(program.instrs[i])) {
      return Error(
          Code::kCorrupt,
          "program: instruction {} touches bytes of no tensor that was declared; record the "
          "kernel again",
          program.first + i);
    }
  }
  return {};
}

bool FrontEnd::LookAheadAt(const TimedInstr& instr) {
  const Access* accesses = program_->accesses.data() + instr.first_access;
  for (int i = instr.num_accesses; i-- > 0;) {
    if (accesses[i].slot >= ahead_.size()) return false;
    Ahead& ahead = ahead_[accesses[i].slot];
    if (ahead.decl == kNoId) return false;
    const TensorDecl& decl = program_->decls[ahead.decl];
    if (IsOnChip(decl.memory) && accesses[i].byte_end > decl.partition_bytes) return false;
    if (!ahead.used_later) last_use_[instr.first_access + static_cast<size_t>(i)] = 1;
    ahead.used_later = true;
    ahead.written |= accesses[i].write;
    if (accesses[i].pitch == 0) continue;
    ahead.pitch = accesses[i].pitch;
    ahead.rows = accesses[i].row_end - accesses[i].row_begin;
  }
  for (int i = 0; i < instr.num_accesses; ++i) {
    Ahead& ahead = ahead_[accesses[i].slot];
    if (StartsVersion(instr, accesses[i], program_->decls[ahead.decl])) ahead.used_later = false;
  }
  return true;
}

bool FrontEnd::StartsVersion(const TimedInstr& instr, const Access& access,
                             const TensorDecl& decl) const {
  const bool renames =
      decl.address_byte < 0 && ((decl.memory == Memory::kSbuf && policy_.rename_rewritten_sbuf) ||
                                (decl.memory == Memory::kPsum && policy_.rename_rewritten_psum));
  if (!renames || !access.write || !access.whole || access.read) return false;
  const Access* accesses = program_->accesses.data() + instr.first_access;
  for (int i = 0; i < instr.num_accesses; ++i) {
    if (accesses[i].slot == access.slot && accesses[i].read) return false;
  }
  return true;
}

void FrontEnd::ApplyEvents() {
  const auto& events = program_->events;
  for (; event_at_ < events.size() && events[event_at_].before <= next_; ++event_at_) {
    const TensorEvent& event = events[event_at_];
    if (!event.release) {
      Allocate(event);
    } else if (event.slot < slots_.size()) {
      LetGo(slots_[event.slot]);
    }
  }
}

void FrontEnd::Allocate(const TensorEvent& event) {
  if (event.slot >= slots_.size()) slots_.resize(event.slot + 1);
  Slot& slot = slots_[event.slot];
  LetGo(slot);
  slot = Slot{};
  slot.decl = event.decl;
  slot.memory = program_->decls[event.decl].memory;
  slot.address_byte = program_->decls[event.decl].address_byte;
  slot.version = ++next_version_;
}

void FrontEnd::LetGo(Slot& slot) {
  if (slot.buffer != kNoId) space(slot).Release(slot.buffer);
  slot.buffer = kNoId;
  regions_.Free(slot.regions);
  if (slot.hbm) {
    for (RegionList& bucket : slot.hbm->buckets()) regions_.Free(bucket);
  }
  slot.hbm.reset();
}

Engine FrontEnd::Choose(const TimedInstr& instr) const {
  if (instr.engine != Engine::kUnknown) return instr.engine;
  const EngineSet can = instr.engines;
  if ((instr.flags & kFills) && policy_.memset_on_gpsimd && can.has(Engine::kGpSimd)) {
    return Engine::kGpSimd;
  }
  if (can.has(Engine::kVector) && can.has(Engine::kScalar)) {
    return instr.flags & kCopies ? ForCopy(instr) : ForArithmetic(instr);
  }
  // GpSimd is slow and kept for what only it can do.
  return can.has(Engine::kVector)   ? Engine::kVector
         : can.has(Engine::kScalar) ? Engine::kScalar
                                    : Engine::kGpSimd;
}

// Copies out of PSUM and conversions go where less is waiting.
Engine FrontEnd::ForCopy(const TimedInstr& instr) const {
  const Access* accesses = program_->accesses.data() + instr.first_access;
  bool converts = false;
  for (int i = 1; i < instr.num_accesses; ++i) {
    converts |= accesses[i].element_bytes != accesses[0].element_bytes;
  }
  if (!policy_.balance_engines || !(converts || TouchesPsum(instr))) return Engine::kVector;
  const auto after = [&](Engine engine) {
    return load_ns_[static_cast<size_t>(engine)] +
           instr.interval_ns[static_cast<size_t>(CostSlot(engine))];
  };
  return after(Engine::kScalar) < after(Engine::kVector) ? Engine::kScalar : Engine::kVector;
}

// With a vector operand: Scalar from PSUM, Vector from SBUF. With numbers alone: Scalar for a tile
// that comes straight from a load, else Vector.
Engine FrontEnd::ForArithmetic(const TimedInstr& instr) const {
  const Access* accesses = program_->accesses.data() + instr.first_access;
  const Access* end = accesses + instr.num_accesses;
  const auto reads = std::count_if(accesses, end, [](const Access& a) { return a.read; });
  if (reads == 0) return Engine::kVector;
  const Access* data = std::find_if(accesses, end, [](const Access& a) { return a.read; });
  if (reads > 1)
    return policy_.balance_engines && slots_[data->slot].memory == Memory::kPsum ? Engine::kScalar
                                                                                 : Engine::kVector;
  const bool loaded = slots_[data->slot].writer == Engine::kDma;
  return policy_.scalar_takes_loaded && loaded ? Engine::kScalar : Engine::kVector;
}

bool FrontEnd::TouchesPsum(const TimedInstr& instr) const {
  const Access* accesses = program_->accesses.data() + instr.first_access;
  return std::any_of(accesses, accesses + instr.num_accesses, [&](const Access& access) {
    return slots_[access.slot].memory == Memory::kPsum;
  });
}

int FrontEnd::QueueOf(const TimedInstr& instr, Engine engine) {
  if (engine != Engine::kDma) return static_cast<int>(engine);
  const auto queues = static_cast<uint32_t>(num_queues_ - kFirstDmaQueue);
  if (!policy_.split_load_store_queues) {
    return kFirstDmaQueue + static_cast<int>(load_turn_++ % queues);
  }
  const uint32_t each = queues / 2;
  const bool store = program_->dmas[static_cast<size_t>(instr.dma)].store;
  const uint32_t turn = (store ? store_turn_ : load_turn_)++ % each;
  return kFirstDmaQueue + static_cast<int>(turn + (store ? each : 0));
}

void FrontEnd::Fill(const TimedInstr& instr, Engine engine, Record& record) {
  const auto cost = static_cast<size_t>(CostSlot(engine));
  record.engine = engine;
  record.queue = static_cast<uint8_t>(QueueOf(instr, engine));
  record.interval_ns = instr.interval_ns[cost];
  record.latency_ns = instr.latency_ns[cost];
  record.weight_load_ns = instr.weight_load_ns;
  record.activity = instr.array_activity;
  record.flags = engine == Engine::kVector ? instr.flags : instr.flags & ~kSharesPort;
  record.table_set = instr.table_set;
  record.evidence = instr.evidence[cost];
  if (engine == Engine::kDma) {
    ring_->dma(next_) = program_->dmas[static_cast<size_t>(instr.dma)];
  } else {
    load_ns_[static_cast<size_t>(engine)] += record.interval_ns;
  }
}

Number FrontEnd::Take(Number oldest, double floor_ns) {
  oldest_ = oldest;
  ApplyEvents();
  const TimedInstr& instr = program_->instrs[at_];
  Record& record = (*ring_)[next_];
  record = Record{};
  record.ready_ns = floor_ns;
  record.origin = origins_ ? (*origins_)[at_] : next_;
  Fill(instr, Choose(instr), record);
  last_edge_from_ = kNobody;
  const Access* accesses = program_->accesses.data() + instr.first_access;
  // Reads before writes, so that an instruction in place waits for what it reads.
  for (int i = 0; i < instr.num_accesses; ++i) {
    if (!accesses[i].write) Touch(accesses[i], instr, record);
  }
  for (int i = 0; i < instr.num_accesses; ++i) {
    if (accesses[i].write) Touch(accesses[i], instr, record);
  }
  AddNamedEdges(instr, record);
  for (int i = 0; i < instr.num_accesses; ++i) {
    Slot& slot = slots_[accesses[i].slot];
    if (!last_use_[instr.first_access + static_cast<size_t>(i)] || slot.buffer == kNoId) continue;
    space(slot).Release(slot.buffer);
    slot.buffer = kNoId;
  }
  ++at_;
  return next_++;
}

void FrontEnd::Touch(const Access& access, const TimedInstr& instr, Record& record) {
  Slot& slot = slots_[access.slot];
  if (slot.memory == Memory::kHbm) {
    TouchHbm(slot, access, record);
    return;
  }
  Box box{access.row_begin, access.row_end, access.byte_begin, access.byte_end};
  RegionList& regions = Place(slot, access, instr, box);
  TouchRegions(regions, box, access, slot.version, record);
  if (access.stationary) record.weights = WeightsKey(slot, access);
  if (access.write) {
    slot.last_write = next_;
    slot.writer = record.engine;
  }
  if (++slot.touches >= slot.prune_at) {
    slot.touches = 0;
    slot.prune_at = std::max<size_t>(256, regions_.Prune(regions, oldest_));
  }
  if (slot.memory == Memory::kPsum && timing_.psum_bank_bytes > 0 && slot.buffer != kNoId) {
    const int64_t begin = psum_.begin(slot.buffer) + access.byte_begin;
    const int64_t end = psum_.begin(slot.buffer) + access.byte_end;
    for (int64_t bank = begin / timing_.psum_bank_bytes; bank * timing_.psum_bank_bytes < end;
         ++bank) {
      record.psum_banks |= static_cast<uint8_t>(1u << (bank & 7));
    }
  }
}

RegionList& FrontEnd::Place(Slot& slot, const Access& access, const TimedInstr& instr, Box& box) {
  if (slot.memory == Memory::kRegister) return slot.regions;
  if (slot.address_byte >= 0) {
    const TensorDecl& decl = program_->decls[slot.decl];
    const int32_t row = std::max<int32_t>(decl.start_partition, 0);
    box.row_begin += row;
    box.row_end += row;
    box.byte_begin += slot.address_byte;
    box.byte_end += slot.address_byte;
    return slot.memory == Memory::kPsum ? psum_fixed_ : sbuf_fixed_;
  }
  const TensorDecl& decl = program_->decls[slot.decl];
  if (slot.buffer != kNoId && access.whole && StartsVersion(instr, access, decl)) {
    space(slot).Release(slot.buffer);  // its last use lies in an earlier segment
    slot.buffer = kNoId;
  }
  if (slot.buffer == kNoId) {
    slot.buffer = space(slot).Take(slot.decl, decl.partition_bytes);
    slot.version = ++next_version_;
  }
  return space(slot).regions(slot.buffer);
}

void FrontEnd::TouchHbm(Slot& slot, const Access& access, Record& record) {
  const Ahead& ahead = ahead_[access.slot];
  if (!slot.tracked && !ahead.written) {
    slot.last_reader = next_;
    return;
  }
  if (!slot.tracked) {
    slot.tracked = true;
    slot.hbm = std::make_unique<HbmRegions>(
        program_->decls[slot.decl].partition_bytes,
        ahead.pitch ? ahead.pitch : access.byte_end - access.byte_begin, ahead.rows);
  }
  if (access.write && slot.last_reader != kNobody) {
    AddEdge(slot.last_reader, record, Wait::kReuse, false);
    slot.last_reader = kNobody;
  }
  const bool prune = ++slot.touches % 64 == 0;
  slot.hbm->ForEachBucket(slot.hbm->Canonical(access), [&](RegionList& regions, const Box& part) {
    if (prune) regions_.Prune(regions, oldest_);
    TouchRegions(regions, part, access, slot.version, record);
  });
}

void FrontEnd::TouchRegions(RegionList& regions, const Box& box, const Access& access,
                            uint32_t version, Record& record) {
  const auto on_conflict = [&](const Conflict& conflict) {
    if (conflict.number == next_ || conflict.number < oldest_) return;
    OnConflict(conflict, version, access, record);
  };
  if (access.write) {
    regions_.Write(regions, box, next_, version, on_conflict);
  } else {
    regions_.Read(regions, box, next_, version, on_conflict);
  }
}

void FrontEnd::OnConflict(const Conflict& conflict, uint32_t version, const Access& access,
                          Record& record) {
  const bool same_queue = (*ring_)[conflict.number].queue == record.queue;
  if (conflict.was_write && access.read) {
    // A chain of products into one PSUM tile is free: the array adds them up as they come.
    const bool chain = access.write && same_queue && record.engine == Engine::kTensor;
    AddEdge(conflict.number, record, chain ? Wait::kQueue : Wait::kData, chain);
    return;
  }
  const Wait wait = conflict.owner == version ? Wait::kReuse : Wait::kBuffer;
  AddEdge(conflict.number, record, same_queue ? Wait::kQueue : wait, same_queue);
}

void FrontEnd::AddEdge(Number from, Record& record, Wait wait, bool at_issue) {
  if (from == last_edge_from_ && at_issue == last_edge_at_issue_) return;
  last_edge_from_ = from;
  last_edge_at_issue_ = at_issue;
  Record& earlier = (*ring_)[from];
  if (earlier.timed) {
    Hold(record, from, EdgeTime(earlier, record, at_issue, timing_.semaphore_ns), wait);
    return;
  }
  edges_->Push(earlier.first_edge, Edge{next_, ~0u, wait, at_issue});
  ++record.pending;
}

void FrontEnd::AddNamedEdges(const TimedInstr& instr, Record& record) {
  const auto& edges = program_->edges;
  for (; edge_at_ < edges.size() && edges[edge_at_].to <= next_; ++edge_at_) {
    const uint64_t from = edges[edge_at_].from;
    if (edges[edge_at_].to < next_ || from >= next_ || from < oldest_) continue;
    AddEdge(static_cast<Number>(from), record, Wait::kOrder, false);
  }
  if (instr.ordered_group == 0) return;
  if (group_.group != instr.ordered_group) {
    group_.group = instr.ordered_group;
    group_.last.fill(kNobody);
  }
  Number& last = group_.last[record.queue];
  if (last != kNobody && last >= oldest_) AddEdge(last, record, Wait::kOrder, true);
  last = next_;
}

uint64_t FrontEnd::WeightsKey(const Slot& slot, const Access& access) const {
  uint64_t key = (uint64_t{slot.version} << 32 | slot.last_write) * 0x9E3779B97F4A7C15ull;
  for (const int64_t part :
       {access.byte_begin, access.byte_end, int64_t{access.row_begin}, int64_t{access.row_end}}) {
    key = (key ^ static_cast<uint64_t>(part)) * 0xBF58476D1CE4E5B9ull;
    key ^= key >> 29;
  }
  return key | 1;
}

}  // namespace wt::chip
