#include "chip/recorder.h"

#include <algorithm>
#include <string_view>

#include "chip/isa/params.h"
#include "chip/legality.h"

namespace wt::chip {

namespace {

// A slot waits so many instructions before another tensor gets it: who looks at a few hundred
// instructions at once may take slots for tensors.
constexpr uint64_t kSlotRest = 8192;

bool Is(const Instr& instr, std::string_view name) { return instr.def->name == name; }

bool Is(const Instr& instr, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), instr.def->name) != names.end();
}

double MatmulFlops(const Instr& instr) {
  const AccessPattern& moving = instr.operand(isa::nc_matmul::kMoving);
  const AccessPattern& stationary = instr.operand(isa::nc_matmul::kStationary);
  return 2.0 * static_cast<double>(moving.elements()) *
         static_cast<double>(stationary.free_elements());
}

bool Transposes(const Instr& instr) {
  return Is(instr, "nc_transpose") ||
         (Is(instr, "nc_matmul") && instr.args[isa::nc_matmul::kIsTranspose].i != 0);
}

uint8_t FlagsOf(const Instr& instr) {
  uint8_t flags = 0;
  if (Transposes(instr)) flags |= kTransposes;
  if (Is(instr, "memset")) flags |= kFills;
  if (Is(instr, "tensor_copy")) flags |= kCopies;
  if (Is(instr, {"core_barrier", "sendrecv"})) flags |= kMeets;
  return flags;
}

}  // namespace

Recorder::Recorder(std::shared_ptr<const SourceTable> sources)
    : Recorder(std::move(sources), nullptr, 0) {}

Recorder::Recorder(std::shared_ptr<const SourceTable> sources, SegmentSink sink, size_t segment)
    : sink_(std::move(sink)), segment_(segment) {
  program_.sources = std::move(sources);
}

uint32_t Recorder::NextSlot() {
  if (free_slots_.empty() || free_slots_.front().second + kSlotRest > next_number()) {
    return num_slots_++;
  }
  const uint32_t slot = free_slots_.front().first;
  free_slots_.pop_front();
  return slot;
}

uint32_t Recorder::DeclOf(const Tensor& tensor) {
  TensorDecl decl;
  decl.memory = tensor.is_register ? Memory::kRegister : tensor.memory;
  decl.partitions = static_cast<int16_t>(std::min(tensor.partitions, 128));
  decl.partition_bytes = tensor.partition_bytes;
  decl.source = tensor.source;
  decl.name = tensor.name;
  if (tensor.address) {
    decl.start_partition = static_cast<int16_t>(tensor.address->partition);
    decl.address_byte = tensor.address->byte;
  }
  const std::vector<int64_t> key = {static_cast<int64_t>(decl.memory),
                                    decl.partitions,
                                    decl.partition_bytes,
                                    decl.source,
                                    decl.start_partition,
                                    decl.address_byte};
  const auto [found, added] = decls_.emplace(key, static_cast<uint32_t>(program_.decls.size()));
  if (added) program_.decls.push_back(std::move(decl));
  return found->second;
}

void Recorder::OnAllocate(const Tensor& tensor) {
  Live live;
  live.slot = NextSlot();
  program_.events.push_back({next_number(), live.slot, DeclOf(tensor), false});
  live_.emplace(tensor.id, std::move(live));
}

Recorder::Live& Recorder::LiveOf(const Tensor& tensor) {
  // A tensor that was there before the recording began.
  if (!live_.contains(tensor.id)) OnAllocate(tensor);
  return live_.at(tensor.id);
}

void Recorder::OnRelease(const Tensor& tensor) {
  const auto found = live_.find(tensor.id);
  if (found == live_.end()) return;
  program_.events.push_back({next_number(), found->second.slot, 0, true});
  free_slots_.emplace_back(found->second.slot, next_number());
  live_.erase(found);
}

void Recorder::OnDependency(uint64_t consumer, uint64_t producer) {
  if (consumer <= program_.first) return;  // gone with an earlier segment
  const DeclaredEdge edge{consumer - 1, producer - 1};
  const auto later = [](const DeclaredEdge& a, const DeclaredEdge& b) { return a.to < b.to; };
  program_.edges.insert(std::upper_bound(program_.edges.begin(), program_.edges.end(), edge, later),
                        edge);
}

void Recorder::OnInstr(const Machine& machine, const Instr& instr) {
  if (defs_.empty()) {
    const auto all = AllInstrs();
    for (size_t i = 0; i < all.size(); ++i) defs_[all[i]] = static_cast<uint16_t>(i);
  }
  TimedInstr timed;
  timed.def = defs_[instr.def];
  timed.source = instr.source;
  timed.ordered_group = instr.ordered_group;
  timed.flags = FlagsOf(instr);
  AddAccesses(instr, timed);
  AddCosts(machine, instr, timed);
  if (Is(instr, "nc_matmul")) {
    timed.flops = static_cast<float>(MatmulFlops(instr));
    FollowAccumulation(instr, timed);
  }
  for (const uint64_t number : instr.depends_on) OnDependency(next_number() + 1, number);
  program_.instrs.push_back(timed);
  if (segment_ > 0 && program_.size() >= segment_) Flush();
}

void Recorder::AddCosts(const Machine& machine, const Instr& instr, TimedInstr& timed) {
  Engine engine = instr.engine != Engine::kUnknown ? instr.engine : instr.def->default_engine;
  const EngineSet can = CandidateEngines(machine, instr);
  // What Vector cannot do goes through the array.
  if (engine == Engine::kUnknown && can.has(Engine::kTensor) && !can.has(Engine::kVector))
    engine = Engine::kTensor;
  if (engine == Engine::kDma) {
    if (Is(instr, "sendrecv")) {
      engine = Engine::kSync;  // its cost holds the transfer; it waits for the other core
    } else {
      const auto beat = static_cast<int64_t>(machine.constant(ConstantId::kDmaAlignment));
      const auto operand = [&](size_t param) {
        return instr.operands[static_cast<size_t>(instr.args[param].i)];
      };
      DmaShape shape = DmaShapeOf(operand(1), operand(0), beat);  // (dst, src, …)
      shape.transpose = Is(instr, "dma_transpose");
      shape.accumulate = Is(instr, "dma_compute");
      timed.dma = static_cast<int32_t>(program_.dmas.size());
      program_.dmas.push_back(shape);
    }
  }
  if (engine != Engine::kUnknown) {
    timed.engine = engine;
    timed.engines = {engine};
    AddCost(machine, instr, engine, timed);
    return;
  }
  candidate_ = instr;
  for (const Engine each : {Engine::kVector, Engine::kScalar, Engine::kGpSimd}) {
    if (!can.has(each)) continue;
    candidate_.engine = each;
    if (!CheckInstr(machine, candidate_).ok()) continue;
    timed.engines.bits |= EngineSet{each}.bits;
    AddCost(machine, candidate_, each, timed);
  }
}

void Recorder::AddCost(const Machine& machine, const Instr& instr, Engine engine,
                       TimedInstr& timed) {
  if (instr.def->cost == nullptr) return;
  const Cost cost = instr.def->cost(machine, instr, engine);
  const auto slot = static_cast<size_t>(CostSlot(engine));
  timed.interval_ns[slot] = static_cast<float>(cost.interval_ns);
  timed.latency_ns[slot] = static_cast<float>(cost.latency_ns);
  timed.fixed_ns[slot] = static_cast<float>(cost.fixed_ns);
  timed.weight_load_ns = static_cast<float>(cost.weight_load_ns);
  timed.array_activity = static_cast<float>(cost.array_activity);
  timed.evidence[slot] = cost.evidence;
  if (cost.table_set != 0) timed.table_set = static_cast<uint8_t>(cost.table_set);
  if (cost.shares_port) timed.flags |= kSharesPort;
}

void Recorder::AddAccesses(const Instr& instr, TimedInstr& timed) {
  const size_t first = program_.accesses.size();
  timed.first_access = static_cast<uint32_t>(first);
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    const AccessPattern& pattern = instr.operands[i];
    Access access = AccessOf(pattern);
    access.slot = LiveOf(*pattern.tensor).slot;
    const Role role = instr.roles[i];
    access.read = role != Role::kWrite;
    access.write = role == Role::kWrite || role == Role::kReadWrite;
    access.whole &= access.write;
    if (pattern.on_chip()) {
      timed.elements = std::max(timed.elements, static_cast<uint32_t>(pattern.free_elements()));
    }
    program_.accesses.push_back(access);
  }
  for (const Dynamic& dynamic : instr.dynamics) {  // it may be anywhere
    Access& access = program_.accesses[first + static_cast<size_t>(dynamic.operand)];
    access.byte_begin = 0;
    access.byte_end = instr.operands[static_cast<size_t>(dynamic.operand)].tensor->partition_bytes;
    access.whole = false;
    if (access.pitch == 0) continue;
    access.pitch = 0;
    access.row_begin = 0;
    access.row_end = 1;
  }
  timed.num_accesses =
      static_cast<uint8_t>(std::min<size_t>(program_.accesses.size() - first, 255));
}

void Recorder::FollowAccumulation(const Instr& instr, TimedInstr& timed) {
  using namespace isa::nc_matmul;
  program_.accesses[timed.first_access + static_cast<size_t>(instr.args[kStationary].i)]
      .stationary = true;
  Access& dst = program_.accesses[timed.first_access + static_cast<size_t>(instr.args[kDst].i)];
  auto& written = LiveOf(*instr.operand(kDst).tensor).written;
  const auto same = [&](const Written& box) {
    return box.row_begin == dst.row_begin && box.row_end == dst.row_end &&
           box.byte_begin == dst.byte_begin && box.byte_end == dst.byte_end;
  };
  const bool again = std::any_of(written.begin(), written.end(), same);
  const Arg& accumulate = instr.args[kAccumulate];
  dst.read = accumulate.given() ? accumulate.i != 0 : again;
  dst.whole &= !dst.read;
  if (dst.read) timed.flags |= kAccumulates;
  if (!again) written.push_back({dst.row_begin, dst.row_end, dst.byte_begin, dst.byte_end});
}

void Recorder::Flush() {
  if (!sink_ || program_.instrs.empty()) return;
  sink_(program_);
  program_.first = next_number();
  program_.instrs.clear();
  program_.accesses.clear();
  program_.dmas.clear();
  program_.edges.clear();
  program_.events.clear();
}

}  // namespace wt::chip
