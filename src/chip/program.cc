#include "chip/program.h"

namespace wt::chip {

namespace {

constexpr uint32_t kMaxSlot = 1u << 24;  // tensors alive at once

Status BadIndex(size_t instr, const char* what, int64_t given, size_t count) {
  return Error(Code::kCorrupt, "program: instruction {}: {} {} of {}; record the kernel again",
               instr, what, given, count);
}

}  // namespace

Status CheckProgram(const Program& program) {
  for (const TensorEvent& event : program.events) {
    if (event.decl >= program.decls.size()) {
      return Error(Code::kCorrupt, "program: a tensor of declaration {} of {}", event.decl,
                   program.decls.size());
    }
    if (event.slot > kMaxSlot) {
      return Error(Code::kCorrupt, "program: slot {} of a tensor, at most {}", event.slot,
                   kMaxSlot);
    }
  }
  for (size_t i = 0; i < program.instrs.size(); ++i) {
    const TimedInstr& instr = program.instrs[i];
    const size_t end = size_t{instr.first_access} + instr.num_accesses;
    if (end > program.accesses.size()) {
      return BadIndex(i, "access", static_cast<int64_t>(end), program.accesses.size());
    }
    const bool dma = instr.engine == Engine::kDma;
    if (dma && (instr.dma < 0 || static_cast<size_t>(instr.dma) >= program.dmas.size())) {
      return BadIndex(i, "transfer", instr.dma, program.dmas.size());
    }
  }
  for (const Access& access : program.accesses) {
    if (access.row_begin < 0 || access.row_begin >= access.row_end || access.byte_begin < 0 ||
        access.byte_begin >= access.byte_end) {
      return Error(Code::kCorrupt, "program: an access to rows {} to {}, bytes {} to {}",
                   access.row_begin, access.row_end, access.byte_begin, access.byte_end);
    }
  }
  return {};
}

}  // namespace wt::chip
