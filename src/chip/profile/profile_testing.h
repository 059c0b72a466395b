// Small programs with their times given by hand, for the tests of profiles.
#pragma once

#include "chip/program.h"
#include "chip/schedule.h"

namespace wt::chip {

// A program whose instructions touch one tensor each, and the times at which they ran.
struct TimedProgram {
  Program program;
  std::vector<Scheduled> times;

  // Declares a tensor before the next instruction and gives its slot.
  uint32_t Tensor(Memory memory, int64_t bytes, int16_t partitions = 128) {
    const auto slot = static_cast<uint32_t>(program.decls.size());
    TensorDecl decl;
    decl.memory = memory;
    decl.partitions = partitions;
    decl.partition_bytes = bytes;
    program.decls.push_back(decl);
    program.events.push_back({.before = program.size(), .slot = slot, .decl = slot});
    return slot;
  }

  // An instruction on `engine` from `start` to `end` that waited for `waited_for`.
  TimedInstr& Add(Engine engine, double start, double end, Wait wait = Wait::kNone,
                  uint64_t waited_for = kNoInstr, SourceId source = 0) {
    TimedInstr instr;
    instr.engine = engine;
    instr.source = source;
    instr.first_access = static_cast<uint32_t>(program.accesses.size());
    program.instrs.push_back(instr);
    Scheduled at;
    at.start_ns = start;
    at.end_ns = at.done_ns = end;
    at.engine = engine;
    at.wait = wait;
    at.waited_for = waited_for;
    times.push_back(at);
    return program.instrs.back();
  }

  // The last instruction touches these bytes of `slot`.
  void Touch(uint32_t slot, int64_t begin, int64_t end, bool write) {
    Access access;
    access.slot = slot;
    access.byte_begin = begin;
    access.byte_end = end;
    access.read = !write;
    access.write = write;
    program.accesses.push_back(access);
    ++program.instrs.back().num_accesses;
  }

  // The last instruction is a transfer.
  void Moves(int64_t bytes, int64_t descriptor_bytes, bool load) {
    program.instrs.back().dma = static_cast<int32_t>(program.dmas.size());
    program.dmas.push_back({.bytes = bytes,
                            .descriptor_bytes = descriptor_bytes,
                            .partitions = 128,
                            .load = load,
                            .store = !load});
  }
};

}  // namespace wt::chip
