#include "chip/recorder.h"

#include <algorithm>
#include <string_view>

#include "chip/isa/params.h"
#include "chip/isa/rows.h"

namespace wt::chip {
namespace {

bool Writes(Role role) { return role == Role::kWrite || role == Role::kReadWrite; }

uint16_t IndexOf(const InstrDef* def) {
  static const auto* indices = [] {
    auto* map = new std::unordered_map<const InstrDef*, uint16_t>;
    for (const InstrDef* row : AllInstrs()) map->emplace(row, static_cast<uint16_t>(map->size()));
    return map;
  }();
  return indices->at(def);
}

// Bytes of the run at the end of `merged` that lie one after the other; `above` is how many
// dimensions remain before it.
int64_t InnermostRun(const AccessPattern& merged, size_t* above) {
  const int64_t element = DTypeBytes(merged.dtype);
  *above = merged.num_dims;
  if (*above > 0 && merged.dims[*above - 1].step == 1) return element * merged.dims[--*above].size;
  return element;
}

// HBM as rows of a matrix, when the pattern is a box of one.
void FoldRows(const AccessPattern& merged, Access* access) {
  const int64_t element = DTypeBytes(merged.dtype);
  size_t above = 0;
  const int64_t run = InnermostRun(merged, &above);
  if (above == 0) return;
  const int64_t pitch = merged.dims[above - 1].step * element;
  const int64_t start = merged.offset * element;
  if (pitch <= 0 || pitch > UINT32_MAX || start % pitch + run > pitch) return;
  int64_t rows = 1;
  for (size_t d = 0; d < above; ++d) {
    const int64_t step = merged.dims[d].step * element;
    if (step < 0 || step % pitch != 0) return;
    rows += (merged.dims[d].size - 1) * (step / pitch);
  }
  access->pitch = static_cast<uint32_t>(pitch);
  access->row_begin = static_cast<int32_t>(start / pitch);
  access->row_end = static_cast<int32_t>(start / pitch + rows);
  access->byte_begin = start % pitch;
  access->byte_end = start % pitch + run;
}

bool IsWhole(const AccessPattern& pattern) {
  const Tensor& tensor = *pattern.tensor;
  if (pattern.bytes() != tensor.partitions * tensor.partition_bytes) return false;
  return std::all_of(pattern.dims.begin(), pattern.dims.begin() + pattern.num_dims,
                     [](const Dim& dim) { return dim.step != 0 || dim.size == 1; });
}

bool Overlap(const Access& access, int32_t row_begin, int32_t row_end, int64_t byte_begin,
             int64_t byte_end) {
  return access.row_begin < row_end && row_begin < access.row_end && access.byte_begin < byte_end &&
         byte_begin < access.byte_end;
}

const AccessPattern* OnChipSide(const Instr& instr) {
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    if (instr.roles[i] != Role::kIndex && instr.operands[i].on_chip()) return &instr.operands[i];
  }
  return nullptr;
}

int64_t RunBytes(const AccessPattern& pattern) {
  size_t above = 0;
  const AccessPattern merged = pattern.Merged();
  // On-chip rows end with their partition, whatever the next one holds.
  if (pattern.on_chip() && merged.num_dims == 1) return DTypeBytes(pattern.dtype);
  return InnermostRun(merged, &above);
}

}  // namespace

Access AccessOf(const AccessPattern& pattern) {
  Access access;
  const auto [begin, end] = pattern.ByteRange();
  access.byte_begin = begin;
  access.byte_end = end;
  if (pattern.on_chip()) {
    const int64_t rows = pattern.dims[0].step == 0 ? 1 : pattern.dims[0].size;
    access.row_begin = pattern.start_partition;
    access.row_end = pattern.start_partition + static_cast<int32_t>(rows);
  } else if (pattern.tensor->memory == Memory::kHbm) {
    FoldRows(pattern.Merged(), &access);
  }
  access.whole = IsWhole(pattern);
  return access;
}

Recorder::Recorder(std::shared_ptr<const SourceTable> sources)
    : Recorder(std::move(sources), nullptr, 0) {}

Recorder::Recorder(std::shared_ptr<const SourceTable> sources, SegmentSink sink, size_t segment)
    : sink_(std::move(sink)), segment_(segment) {
  program_.sources = std::move(sources);
}

uint32_t Recorder::DeclOf(const Tensor& tensor) {
  TensorDecl decl;
  decl.memory = tensor.memory;
  decl.partitions = static_cast<int16_t>(tensor.partitions);
  decl.partition_bytes = tensor.partition_bytes;
  decl.source = tensor.source;
  decl.name = tensor.name;
  if (tensor.address) {
    decl.start_partition = static_cast<int16_t>(tensor.address->partition);
    decl.address_byte = tensor.address->byte;
  }
  const auto [first, last] = decls_by_source_.equal_range(tensor.source);
  for (auto it = first; it != last; ++it) {
    if (program_.decls[it->second] == decl) return it->second;
  }
  const auto index = static_cast<uint32_t>(program_.decls.size());
  program_.decls.push_back(std::move(decl));
  decls_by_source_.emplace(tensor.source, index);
  return index;
}

void Recorder::OnAllocate(const Tensor& tensor) {
  Slot& slot = slots_[tensor.id];
  if (free_slots_.empty()) {
    slot.slot = num_slots_++;
  } else {
    slot.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  program_.events.push_back({program_.first + program_.size(), slot.slot, DeclOf(tensor), false});
}

void Recorder::OnRelease(const Tensor& tensor) {
  const auto slot = slots_.find(tensor.id);
  if (slot == slots_.end()) return;
  program_.events.push_back({program_.first + program_.size(), slot->second.slot, 0, true});
  free_slots_.push_back(slot->second.slot);
  slots_.erase(slot);
}

void Recorder::AddAccesses(const Instr& instr, TimedInstr* timed) {
  timed->first_access = static_cast<uint32_t>(program_.accesses.size());
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    Access access = AccessOf(instr.operands[i]);
    access.slot = slots_[instr.operands[i].tensor->id].slot;
    access.write = Writes(instr.roles[i]);
    access.read = instr.roles[i] != Role::kWrite;
    access.whole &= access.write;
    program_.accesses.push_back(access);
    ++timed->num_accesses;
  }
}

void Recorder::AddCosts(const Machine& machine, const Instr& instr, TimedInstr* timed) {
  if (!instr.def->cost) return;
  timed->evidence = Evidence::kMeasured;
  for (int e = 0; e < kNumEngines; ++e) {
    const auto engine = static_cast<Engine>(e);
    if (!timed->engines.has(engine)) continue;
    const Cost cost = instr.def->cost(machine, instr, engine);
    const auto slot = static_cast<size_t>(CostSlot(engine));
    timed->interval_ns[slot] = static_cast<float>(cost.interval_ns);
    timed->latency_ns[slot] = static_cast<float>(cost.latency_ns);
    timed->evidence = std::max(timed->evidence, cost.evidence);
    if (engine == Engine::kTensor) {
      timed->weight_load_ns = static_cast<float>(cost.weight_load_ns);
      timed->array_activity = static_cast<float>(cost.array_activity);
    }
    if (engine == Engine::kScalar) timed->table_set = static_cast<uint8_t>(cost.table_set);
    if (cost.shares_port) timed->flags |= kSharesPort;
  }
}

// A product adds to what PSUM holds when it says so, or when it says nothing and a product was
// there.
void Recorder::AddProduct(const Instr& instr, TimedInstr* timed) {
  namespace matmul = isa::nc_matmul;
  program_.accesses[timed->first_access + static_cast<uint32_t>(instr.args[matmul::kStationary].i)]
      .stationary = true;
  if (instr.args[matmul::kIsTranspose].given() && instr.args[matmul::kIsTranspose].i != 0) {
    timed->flags |= kTransposes;
    return;
  }
  const AccessPattern& stationary = instr.operand(matmul::kStationary);
  timed->flops =
      static_cast<float>(2.0 * static_cast<double>(stationary.elements()) *
                         static_cast<double>(instr.operand(matmul::kMoving).free_elements()));
  const Access& dst =
      program_.accesses[timed->first_access + static_cast<uint32_t>(instr.args[matmul::kDst].i)];
  std::vector<Box>& products = slots_[instr.operand(matmul::kDst).tensor->id].products;
  const bool seen = std::any_of(products.begin(), products.end(), [&](const Box& box) {
    return Overlap(dst, box.row_begin, box.row_end, box.byte_begin, box.byte_end);
  });
  const Arg& accumulate = instr.args[matmul::kAccumulate];
  if (accumulate.given() ? accumulate.i != 0 : seen) timed->flags |= kAccumulates;
  if (!seen) products.push_back({dst.row_begin, dst.row_end, dst.byte_begin, dst.byte_end});
}

void Recorder::AddDma(const Instr& instr, TimedInstr* timed) {
  timed->dma = static_cast<int32_t>(program_.dmas.size());
  DmaShape shape;
  bool reads_hbm = false, writes_hbm = false;
  shape.descriptor_bytes = INT64_MAX;
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    const AccessPattern& pattern = instr.operands[i];
    if (instr.roles[i] == Role::kIndex || pattern.tensor->is_register) continue;
    shape.bytes = std::max(shape.bytes, pattern.bytes());
    shape.descriptor_bytes = std::min(shape.descriptor_bytes, RunBytes(pattern));
    const bool hbm = pattern.tensor->memory == Memory::kHbm;
    (Writes(instr.roles[i]) ? writes_hbm : reads_hbm) |= hbm;
  }
  shape.descriptor_bytes =
      std::clamp<int64_t>(shape.descriptor_bytes, 1, std::max<int64_t>(1, shape.bytes));
  if (const AccessPattern* side = OnChipSide(instr)) {
    shape.partitions = static_cast<int32_t>(side->dims[0].size);
    shape.start_partition = static_cast<int16_t>(side->start_partition);
    shape.load = reads_hbm;
    shape.store = writes_hbm;
  }
  const std::string_view name = instr.def->name;
  shape.transpose = name == "dma_transpose";
  shape.accumulate = name == "dma_compute";
  if (const int mode = ParamIndex(*instr.def, "dge_mode"); mode >= 0 && instr.has(mode)) {
    shape.dge_mode = static_cast<uint8_t>(instr.args[static_cast<size_t>(mode)].i);
  }
  program_.dmas.push_back(shape);
}

void Recorder::OnInstr(const Machine& machine, const Instr& instr) {
  TimedInstr timed;
  timed.def = IndexOf(instr.def);
  timed.engines = instr.def->engines;
  if (timed.engines.has(Engine::kDma)) {
    timed.engine = Engine::kDma;  // an engine named by the kernel is the one that triggers it
  } else if (instr.engine != Engine::kUnknown) {
    timed.engine = instr.engine;
    timed.engines = EngineSet{instr.engine};
  }
  timed.source = instr.source;
  timed.ordered_group = instr.ordered_group;
  AddAccesses(instr, &timed);
  AddCosts(machine, instr, &timed);
  if (instr.def == &isa::kNcMatmul) AddProduct(instr, &timed);
  if (instr.def == &isa::kMemset) timed.flags |= kFills;
  if (instr.def == &isa::kCoreBarrier || instr.def == &isa::kSendrecv) timed.flags |= kMeets;
  if (timed.engine == Engine::kDma) AddDma(instr, &timed);
  if (!instr.depends_on.empty()) {
    timed.first_edge = static_cast<int32_t>(program_.edges.size());
    for (uint64_t number : instr.depends_on) program_.edges.push_back(number - 1);
    program_.edges.push_back(kNoInstr);
  }
  program_.instrs.push_back(timed);
  if (segment_ > 0 && program_.size() >= segment_) Flush();
}

void Recorder::Flush() {
  if (!sink_ || program_.instrs.empty()) return;
  sink_(program_);
  program_.first += program_.size();
  program_.instrs.clear();
  program_.accesses.clear();
  program_.dmas.clear();
  program_.edges.clear();
  program_.events.clear();
}

}  // namespace wt::chip
