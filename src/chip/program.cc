#include "chip/program.h"

#include <algorithm>

namespace wt::chip {

namespace {

constexpr uint32_t kMaxSlot = 1u << 22;  // tensors alive at once
constexpr int64_t kMaxBytes = int64_t{1} << 48;
constexpr float kMaxNs = 1e15f;
constexpr int kMaxPartitions = 128;

Status BadIndex(size_t instr, const char* what, int64_t given, size_t count) {
  return Error(Code::kCorrupt, "program: instruction {}: {} {} of {}; record the kernel again",
               instr, what, given, count);
}

bool IsTime(float ns) { return ns >= 0 && ns <= kMaxNs; }  // not NaN

bool HasTimes(const TimedInstr& instr) {
  bool good = IsTime(instr.weight_load_ns) && IsTime(instr.array_activity);
  for (size_t i = 0; i < instr.interval_ns.size(); ++i) {
    good &=
        IsTime(instr.interval_ns[i]) && IsTime(instr.latency_ns[i]) && IsTime(instr.fixed_ns[i]);
  }
  return good;
}

Status CheckInstrs(const Program& program) {
  for (size_t i = 0; i < program.instrs.size(); ++i) {
    const TimedInstr& instr = program.instrs[i];
    const size_t end = size_t{instr.first_access} + instr.num_accesses;
    if (end > program.accesses.size()) {
      return BadIndex(i, "access", static_cast<int64_t>(end), program.accesses.size());
    }
    if (instr.engine > Engine::kUnknown) {
      return BadIndex(i, "engine", static_cast<int64_t>(instr.engine), kNumEngines);
    }
    const bool dma = instr.engine == Engine::kDma;
    if (dma ? instr.dma < 0 || static_cast<size_t>(instr.dma) >= program.dmas.size()
            : instr.dma >= 0) {
      return BadIndex(i, "transfer", instr.dma, program.dmas.size());
    }
    if (!HasTimes(instr)) {
      return Error(Code::kCorrupt, "program: instruction {}: its times are no times", i);
    }
  }
  return {};
}

bool IsTransfer(const DmaShape& dma) {
  return dma.bytes >= 0 && dma.bytes <= kMaxBytes && dma.descriptor_bytes >= 0 &&
         dma.descriptor_bytes <= kMaxBytes && dma.partitions >= 0 && dma.start_partition >= 0 &&
         dma.start_partition + dma.partitions <= kMaxPartitions;
}

bool IsBox(const Access& access) {
  return access.row_begin >= 0 && access.row_begin < access.row_end && access.byte_begin >= 0 &&
         access.byte_begin < access.byte_end && access.byte_end <= kMaxBytes;
}

}  // namespace

Status CheckProgram(const Program& program) {
  for (const TensorDecl& decl : program.decls) {
    if (decl.partition_bytes >= 0 && decl.partition_bytes <= kMaxBytes &&
        decl.address_byte <= kMaxBytes && decl.memory <= Memory::kRegister) {
      continue;
    }
    return Error(Code::kCorrupt, "program: a tensor of {} bytes at {}", decl.partition_bytes,
                 decl.address_byte);
  }
  uint64_t before = 0;
  for (const TensorEvent& event : program.events) {
    const bool in_order = event.before >= before;
    before = event.before;
    if (in_order && event.decl < program.decls.size() && event.slot < kMaxSlot) continue;
    return Error(Code::kCorrupt,
                 "program: a tensor of declaration {} of {} in slot {}, before instruction {}",
                 event.decl, program.decls.size(), event.slot, event.before);
  }
  for (const Access& access : program.accesses) {
    if (IsBox(access)) continue;
    return Error(Code::kCorrupt, "program: an access to rows {} to {}, bytes {} to {}",
                 access.row_begin, access.row_end, access.byte_begin, access.byte_end);
  }
  for (const DmaShape& dma : program.dmas) {
    if (IsTransfer(dma)) continue;
    return Error(Code::kCorrupt, "program: a transfer of {} bytes over {} partitions from {} on",
                 dma.bytes, dma.partitions, dma.start_partition);
  }
  return CheckInstrs(program);
}

}  // namespace wt::chip
