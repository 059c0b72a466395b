#include "chip/schedule/lowering.h"

#include <algorithm>
#include <bit>

namespace wt::chip {

namespace {

constexpr size_t kMaxBody = 64;          // instructions of a loop body that is looked for
constexpr size_t kMaxMerged = 16;        // executions in one
constexpr size_t kUnroll = 16;           // see Policy::loop_bubble_ns
constexpr uint32_t kProductSlots = 256;  // slots before the kernel's own

bool SameBox(const Access& a, const Access& b) {
  return a.slot == b.slot && a.row_begin == b.row_begin && a.row_end == b.row_end &&
         a.byte_begin == b.byte_begin && a.byte_end == b.byte_end;
}

bool BoxesMeet(const Access& a, const Access& b) {
  if (a.slot != b.slot) return false;
  if (a.pitch != b.pitch) return true;
  return a.row_begin < b.row_end && b.row_begin < a.row_end && a.byte_begin < b.byte_end &&
         b.byte_begin < a.byte_end;
}

uint64_t MixKey(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

}  // namespace

Lowering::Lowering(const Machine& machine, const Policy& policy)
    : machine_(&machine), policy_(policy), reuse_(machine, policy) {}

bool Lowering::active() const {
  return policy_.merge_elements > 0 || policy_.broadcast_by_product || policy_.loop_bubble_ns > 0 ||
         reuse_.active();
}

const Program& Lowering::Apply(const Program& whole_segment) {
  const Program& segment = reuse_.active() ? reuse_.Apply(whole_segment) : whole_segment;
  in_ = &segment;
  const uint64_t first = out_.first + out_.instrs.size();
  out_.first = first;
  out_.instrs.clear();
  out_.accesses.clear();
  out_.dmas.clear();
  out_.edges.clear();
  out_.events.clear();
  origins_.clear();
  new_number_.assign(segment.instrs.size() + 1, 0);
  event_at_ = 0;
  for (; decls_taken_ < segment.decls.size(); ++decls_taken_) {
    decl_map_.push_back(static_cast<uint32_t>(out_.decls.size()));
    out_.decls.push_back(segment.decls[decls_taken_]);
  }
  MakeKeys();
  Run outer;
  for (size_t at = 0; at < segment.instrs.size();) {
    const bool inside = at < outer.end();
    const Run run = FindRun(at, inside ? outer.period : kMaxBody + 1);
    const size_t width = run.times > 1 ? MergeWidth(run) : 1;
    if (width > 1) {
      for (size_t time = 0; time < run.times; time += width) {
        EmitMerged(run, time, std::min(width, run.times - time));
      }
      at = run.end();
      continue;
    }
    if (run.times > 1 && !inside) {
      outer = run;
      if (RunsDry(run)) {
        for (size_t time = 0; time < run.times; ++time) drains_[run.begin + time * run.period] = 1;
      }
    }
    Emit(at++);
  }
  EmitEvents(~uint64_t{0}, true);
  new_number_[segment.instrs.size()] = out_.first + out_.instrs.size();
  MapEdges();
  return out_;
}

void Lowering::MakeKeys() {
  const size_t count = in_->instrs.size();
  keys_.resize(count);
  drains_.assign(count, 0);
  executions_.clear();
  for (size_t i = 0; i < count; ++i) {
    const TimedInstr& instr = in_->instrs[i];
    uint64_t key = MixKey(instr.def, instr.source);
    key = MixKey(key, uint64_t{instr.elements} << 32 | uint64_t{instr.num_accesses} << 16 |
                          uint64_t(instr.engine) << 8 | instr.flags);
    for (const float ns : instr.interval_ns) key = MixKey(key, std::bit_cast<uint32_t>(ns));
    if (instr.dma >= 0) {
      key = MixKey(key, static_cast<uint64_t>(in_->dmas[static_cast<size_t>(instr.dma)].bytes));
    }
    keys_[i] = key;
    if (instr.source >= executions_.size()) executions_.resize(instr.source + 1);
    ++executions_[instr.source];
  }
}

// The shortest body that begins here and is executed at once again.
Lowering::Run Lowering::FindRun(size_t begin, size_t shorter_than) const {
  const size_t left = keys_.size() - begin;
  const size_t longest = std::min({kMaxBody, shorter_than - 1, left / 2});
  const uint64_t* keys = keys_.data() + begin;
  for (size_t period = 1; period <= longest; ++period) {
    if (keys[period] != keys[0] || !std::equal(keys, keys + period, keys + period)) continue;
    size_t same = 2 * period;
    while (same < left && keys[same] == keys[same - period]) ++same;
    return {begin, period, same / period};
  }
  return {begin, 1, 1};
}

// A loop of transfers that a compiler unrolls badly: see Policy::loop_bubble_ns. The last trip may
// be another instruction to MakeKeys, when it has what remains of a tensor.
bool Lowering::RunsDry(const Run& run) const {
  if (policy_.loop_bubble_ns <= 0 || run.times < kUnroll) return false;
  for (size_t place = 0; place < run.period; ++place) {
    const TimedInstr& instr = in_->instrs[run.begin + place];
    if (instr.dma < 0 || !in_->dmas[static_cast<size_t>(instr.dma)].load) continue;
    const size_t trips = executions_[instr.source];
    if (trips != run.times && trips != run.times + 1) continue;
    return trips % 2 == 0 && trips % kUnroll != 0;
  }
  return false;
}

// How many executions of the body become one; 1: it stays as it is.
size_t Lowering::MergeWidth(const Run& run) const {
  if (policy_.merge_elements <= 0) return 1;
  uint32_t widest = 1;
  for (size_t place = 0; place < run.period; ++place) {
    widest = std::max(widest, in_->instrs[run.begin + place].elements);
  }
  const size_t width =
      std::min({static_cast<size_t>(policy_.merge_elements) / widest, kMaxMerged, run.times});
  if (width < 2) return 1;
  for (size_t place = 0; place < run.period; ++place) {
    if (!CanMerge(run, place)) return 1;
  }
  return Independent(run, 0, 1) && Independent(run, 0, width - 1) ? width : 1;
}

bool Lowering::CanMerge(const Run& run, size_t place) const {
  const TimedInstr& one = in_->instrs[run.begin + place];
  const TimedInstr& two = in_->instrs[run.begin + run.period + place];
  if (one.flags & (kBarrier | kMeets) || one.ordered_group != 0) return false;
  if (size_t{one.num_accesses} * kMaxMerged > 255) return false;
  if (one.flags & kTransposes) return one.engine == Engine::kTensor;  // Vector's are of one size
  if (one.engine != Engine::kTensor) return true;
  // Products merge when they share their weights.
  const Access* a = in_->accesses.data() + one.first_access;
  const Access* b = in_->accesses.data() + two.first_access;
  for (int i = 0; i < one.num_accesses; ++i) {
    if (a[i].stationary && !SameBox(a[i], b[i])) return false;
  }
  return true;
}

// Whether two executions of the body touch nothing that the other one writes.
bool Lowering::Independent(const Run& run, size_t one, size_t other) const {
  const auto accesses = [&](size_t time) {
    const TimedInstr& first = in_->instrs[run.begin + time * run.period];
    const TimedInstr& last = in_->instrs[run.begin + time * run.period + run.period - 1];
    return std::pair(in_->accesses.begin() + first.first_access,
                     in_->accesses.begin() + last.first_access + last.num_accesses);
  };
  const auto [a_begin, a_end] = accesses(one);
  const auto [b_begin, b_end] = accesses(other);
  for (auto a = a_begin; a != a_end; ++a) {
    for (auto b = b_begin; b != b_end; ++b) {
      if ((a->write || b->write) && BoxesMeet(*a, *b)) return false;
    }
  }
  return true;
}

// Events up to `before`; releases may be kept back until the merged instructions are out.
void Lowering::EmitEvents(uint64_t before, bool releases_too) {
  const uint64_t now = out_.first + out_.instrs.size();
  if (releases_too) {
    for (TensorEvent& event : held_releases_) event.before = now;
    out_.events.insert(out_.events.end(), held_releases_.begin(), held_releases_.end());
    held_releases_.clear();
  }
  for (; event_at_ < in_->events.size() && in_->events[event_at_].before <= before; ++event_at_) {
    TensorEvent event = in_->events[event_at_];
    event.before = now;
    event.slot += kProductSlots;
    if (!event.release) event.decl = decl_map_[event.decl];
    if (event.release && !releases_too) {
      held_releases_.push_back(event);
    } else {
      out_.events.push_back(event);
    }
  }
}

void Lowering::Emit(size_t at) {
  EmitEvents(in_->first + at, true);
  new_number_[at] = out_.first + out_.instrs.size();
  EmitOne(in_->instrs[at], at, 1, 1);
}

void Lowering::EmitMerged(const Run& run, size_t first_time, size_t times) {
  const size_t begin = run.begin + first_time * run.period;
  const size_t end = begin + times * run.period;
  EmitEvents(in_->first + begin, true);
  EmitEvents(in_->first + end - 1, false);
  for (size_t place = 0; place < run.period; ++place) {
    for (size_t time = 0; time < times; ++time) {
      new_number_[begin + time * run.period + place] = out_.first + out_.instrs.size();
    }
    EmitOne(in_->instrs[begin + place], begin + place, run.period, times);
  }
}

// One instruction for `times` executions, the first at `from`, the next `step` further on.
void Lowering::EmitOne(TimedInstr instr, size_t from, size_t step, size_t times) {
  accesses_.clear();
  for (size_t time = 0; time < times; ++time) {
    const TimedInstr& each = in_->instrs[from + time * step];
    for (int i = 0; i < each.num_accesses; ++i) {
      Access access = in_->accesses[each.first_access + static_cast<size_t>(i)];
      access.slot += kProductSlots;
      const bool product = access.broadcast && policy_.broadcast_by_product &&
                           instr.engine != Engine::kTensor && instr.engine != Engine::kDma;
      accesses_.push_back(product ? BroadcastByProduct(access, from) : access);
    }
  }
  if (times > 1) MergeCosts(instr, from, step, times);
  if (instr.dma >= 0) instr.dma = MergeDma(from, step, times);
  if (drains_[from]) instr.flags |= kDrains;
  instr.first_access = static_cast<uint32_t>(out_.accesses.size());
  instr.num_accesses = static_cast<uint8_t>(accesses_.size());
  out_.accesses.insert(out_.accesses.end(), accesses_.begin(), accesses_.end());
  out_.instrs.push_back(instr);
  origins_.push_back(OriginOf(from));
}

void Lowering::MergeCosts(TimedInstr& instr, size_t from, size_t step, size_t times) const {
  for (size_t time = 1; time < times; ++time) {
    const TimedInstr& each = in_->instrs[from + time * step];
    instr.flops += each.flops;
    instr.elements += each.elements;
    if (instr.engine == Engine::kDma) continue;  // one issue
    for (size_t slot = 0; slot < instr.interval_ns.size(); ++slot) {
      const float more = each.interval_ns[slot] - each.fixed_ns[slot];
      instr.interval_ns[slot] += more;
      instr.latency_ns[slot] += more;
    }
  }
}

int32_t Lowering::MergeDma(size_t from, size_t step, size_t times) {
  DmaShape shape = in_->dmas[static_cast<size_t>(in_->instrs[from].dma)];
  const auto hbm_side = [&](size_t time) -> const Access* {
    const TimedInstr& instr = in_->instrs[from + time * step];
    for (int i = 0; i < instr.num_accesses; ++i) {
      const Access& access = in_->accesses[instr.first_access + static_cast<size_t>(i)];
      if (shape.load ? access.read : access.write) return &access;
    }
    return nullptr;
  };
  bool joined = times > 1 && (shape.load || shape.store);
  for (size_t time = 1; time < times; ++time) {
    const Access *a = hbm_side(time - 1), *b = hbm_side(time);
    joined &= a->slot == b->slot && a->pitch == b->pitch && a->row_begin == b->row_begin &&
              a->byte_end == b->byte_begin;
  }
  shape.bytes *= static_cast<int64_t>(times);
  if (joined) shape.descriptor_bytes *= static_cast<int64_t>(times);
  out_.dmas.push_back(shape);
  return static_cast<int32_t>(out_.dmas.size() - 1);
}

uint32_t Lowering::ProductDecl(int64_t bytes, SourceId source) {
  TensorDecl decl;
  decl.memory = Memory::kPsum;
  decl.partitions = static_cast<int16_t>(machine_->partitions);
  decl.partition_bytes = bytes;
  decl.source = source;
  for (size_t i = out_.decls.size(); i-- > 0;) {
    if (out_.decls[i] == decl) return static_cast<uint32_t>(i);
  }
  out_.decls.push_back(decl);
  return static_cast<uint32_t>(out_.decls.size() - 1);
}

// A row of ones times the row to be repeated: the array makes the copies. Gives what the consumer
// reads instead.
Access Lowering::BroadcastByProduct(const Access& access, size_t at) {
  const auto elements =
      static_cast<double>(access.byte_end - access.byte_begin) / access.element_bytes;
  const bool full = access.element_bytes == 4;
  const Law& law = machine_->law(full ? LawId::kTensorMatmulF32 : LawId::kTensorMatmul);
  const int64_t bytes = static_cast<int64_t>(elements) * 4;
  const uint32_t slot = product_slot_++ % kProductSlots;
  out_.events.push_back(
      {out_.first + out_.instrs.size(), slot, ProductDecl(bytes, in_->instrs[at].source), false});
  TimedInstr product;
  product.def = in_->instrs[at].def;
  product.engine = Engine::kTensor;
  product.engines = {Engine::kTensor};
  product.source = in_->instrs[at].source;
  product.evidence[0] = Evidence::kDerived;
  product.elements = static_cast<uint32_t>(elements);
  product.interval_ns[0] = static_cast<float>(law.Interval(elements));
  product.latency_ns[0] = static_cast<float>(law.Completion(elements));
  product.array_activity = static_cast<float>(1 / machine_->constant(ConstantId::kArrayRows));
  product.first_access = static_cast<uint32_t>(out_.accesses.size());
  product.num_accesses = 2;
  Access source = access, copy;
  source.broadcast = false;
  copy.slot = slot;
  copy.row_end = machine_->partitions;
  copy.byte_end = bytes;
  copy.write = true;
  copy.element_bytes = 4;
  out_.accesses.push_back(source);
  out_.accesses.push_back(copy);
  out_.instrs.push_back(product);
  origins_.push_back(OriginOf(at));
  copy.write = false;
  copy.read = true;
  return copy;
}

uint64_t Lowering::OriginOf(size_t at) const {
  return reuse_.active() ? reuse_.origins()[at] : in_->first + at;
}

// Declared edges by the new numbers; those to earlier segments are over.
void Lowering::MapEdges() {
  for (const DeclaredEdge& edge : in_->edges) {
    if (edge.from < in_->first || edge.to >= in_->first + in_->instrs.size()) continue;
    out_.edges.push_back({new_number_[edge.to - in_->first], new_number_[edge.from - in_->first]});
  }
  std::stable_sort(out_.edges.begin(), out_.edges.end(),
                   [](const DeclaredEdge& a, const DeclaredEdge& b) { return a.to < b.to; });
}

}  // namespace wt::chip
