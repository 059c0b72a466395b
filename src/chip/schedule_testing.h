// A small machine with round numbers and programs made by hand, for the tests of the scheduler.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "chip/schedule.h"

namespace wt::chip {

// One byte a nanosecond and DMA engine, 100 ns to reach it, no overheads, no power limit unless a
// test sets them.
inline Machine SmallMachine() {
  Machine machine;
  machine.sbuf_usable_partition_bytes = 4096;
  machine.psum_banks = 8;
  machine.psum_bank_bytes = 2048;
  const auto set = [&](ConstantId id, double value) {
    machine.constants[static_cast<size_t>(id)].value = value;
  };
  set(ConstantId::kArrayRows, 128);
  set(ConstantId::kDmaEngines, 16);
  set(ConstantId::kDmaPartitionsPerEngine, 8);
  set(ConstantId::kDmaEngineRate, 1);
  set(ConstantId::kDmaMaxDescriptor, 4096);
  set(ConstantId::kDmaLoadDispatch, 100);
  set(ConstantId::kDmaStoreDispatch, 100);
  set(ConstantId::kDmaTransposeLoadShare, 1);
  set(ConstantId::kDmaTransposeOnChipShare, 1);
  set(ConstantId::kDmaAccumulateShare, 1);
  set(ConstantId::kDmaSmallWriteFactor, 1);
  set(ConstantId::kLimiterSlowdown, 2);
  set(ConstantId::kHbmPairRate, 1e9);
  set(ConstantId::kTableLoad, 1000);
  set(ConstantId::kFastModeSharesPort, 1);
  set(ConstantId::kPsumBankExclusive, 1);
  return machine;
}

inline Policy SmallPolicy() {
  Policy policy;
  policy.name = "test";
  policy.dma_issue_ns = 0;
  return policy;
}

// Writes a program down, one call an instruction; each takes its numbers in ns.
class ProgramBuilder {
 public:
  using Slot = uint32_t;

  Slot Sbuf(int64_t bytes, SourceId site = 0) { return Declare(Memory::kSbuf, bytes, site); }
  Slot Psum(int64_t bytes, SourceId site = 0) { return Declare(Memory::kPsum, bytes, site); }
  Slot Hbm(int64_t bytes = 1 << 20) { return Declare(Memory::kHbm, bytes, 0); }
  void Release(Slot slot) { program_.events.push_back({program_.size(), slot, 0, true}); }

  // An instruction of `ns` that occupies its engine all the time.
  ProgramBuilder& Run(Engine engine, double ns) {
    TimedInstr instr;
    instr.engine = engine;
    instr.engines = {engine};
    instr.first_access = static_cast<uint32_t>(program_.accesses.size());
    instr.interval_ns.fill(static_cast<float>(ns));
    instr.latency_ns.fill(static_cast<float>(ns));
    instr.array_activity = 1;
    program_.instrs.push_back(instr);
    return *this;
  }
  ProgramBuilder& Vector(double ns) { return Run(Engine::kVector, ns); }
  ProgramBuilder& Scalar(double ns) { return Run(Engine::kScalar, ns); }
  ProgramBuilder& Tensor(double ns) { return Run(Engine::kTensor, ns); }
  ProgramBuilder& GpSimd(double ns) { return Run(Engine::kGpSimd, ns); }
  // No engine named.
  ProgramBuilder& Any(double ns) {
    Run(Engine::kUnknown, ns);
    last().engines = {Engine::kVector, Engine::kScalar};
    return *this;
  }

  // `row_bytes` to each of 128 partitions of `to`, or back.
  ProgramBuilder& Load(Slot to, int64_t row_bytes, Slot from, int32_t partitions = 128) {
    Transfer(row_bytes, partitions, true);
    Reads(from, 0, 1 << 16);
    return Writes(to, 0, row_bytes, partitions);
  }
  ProgramBuilder& Store(Slot to, int64_t row_bytes, Slot from, int32_t partitions = 128) {
    Transfer(row_bytes, partitions, false);
    Reads(from, 0, row_bytes, partitions);
    return Writes(to, 0, 1 << 16);
  }

  // Operands of the last instruction: bytes of `slot`, all of them by default.
  ProgramBuilder& Reads(Slot slot, int64_t begin = 0, int64_t end = -1, int32_t partitions = 128) {
    return Touch(slot, begin, end, partitions, true, false);
  }
  ProgramBuilder& Writes(Slot slot, int64_t begin = 0, int64_t end = -1, int32_t partitions = 128) {
    return Touch(slot, begin, end, partitions, false, true);
  }
  ProgramBuilder& Adds(Slot slot) { return Touch(slot, 0, -1, 128, true, true); }  // to PSUM
  ProgramBuilder& Weights(Slot slot, double load_ns) {
    Reads(slot);
    program_.accesses.back().stationary = true;
    last().weight_load_ns = static_cast<float>(load_ns);
    return *this;
  }
  // What the last instruction has beside its time.
  ProgramBuilder& Latency(double ns) {
    last().latency_ns.fill(static_cast<float>(ns));
    return *this;
  }
  ProgramBuilder& Flags(uint8_t flags) {
    last().flags |= flags;
    return *this;
  }
  ProgramBuilder& Group(uint32_t group) {
    last().ordered_group = group;
    return *this;
  }
  ProgramBuilder& After(uint64_t number) {
    program_.edges.push_back({program_.size() - 1, number});
    return *this;
  }

  TimedInstr& last() { return program_.instrs.back(); }
  DmaShape& last_dma() { return program_.dmas.back(); }
  Program& program() { return program_; }
  Slot Declare(const TensorDecl& decl);

 private:
  Slot Declare(Memory memory, int64_t bytes, SourceId site) {
    TensorDecl decl;
    decl.memory = memory;
    decl.partitions = 128;
    decl.partition_bytes = bytes;
    decl.source = site == 0 ? 1000 + num_slots_ : site;
    return Declare(decl);
  }
  void Transfer(int64_t row_bytes, int32_t partitions, bool load) {
    Run(Engine::kDma, 0);
    last().dma = static_cast<int32_t>(program_.dmas.size());
    DmaShape shape;
    shape.bytes = row_bytes * partitions;
    shape.descriptor_bytes = row_bytes;
    shape.partitions = partitions;
    shape.load = load;
    shape.store = !load;
    program_.dmas.push_back(shape);
  }
  ProgramBuilder& Touch(Slot slot, int64_t begin, int64_t end, int32_t partitions, bool read,
                        bool write) {
    const TensorDecl& decl = program_.decls[decl_of_[slot]];
    Access access;
    access.slot = slot;
    access.byte_begin = begin;
    access.byte_end = end < 0 ? decl.partition_bytes : end;
    access.row_end = decl.memory == Memory::kHbm ? 1 : partitions;
    access.read = read;
    access.write = write;
    access.whole = write && !read && begin == 0 && access.byte_end == decl.partition_bytes &&
                   partitions == decl.partitions;
    program_.accesses.push_back(access);
    ++last().num_accesses;
    return *this;
  }

  Program program_;
  uint32_t num_slots_ = 0;
  std::vector<uint32_t> decl_of_;  // by slot
};

inline ProgramBuilder::Slot ProgramBuilder::Declare(const TensorDecl& decl) {
  const auto found = std::find(program_.decls.begin(), program_.decls.end(), decl);
  const auto index = static_cast<uint32_t>(found - program_.decls.begin());
  if (found == program_.decls.end()) program_.decls.push_back(decl);
  program_.events.push_back({program_.size(), num_slots_, index, false});
  decl_of_.push_back(index);
  return num_slots_++;
}

// A schedule with all its times.
struct Timeline {
  ScheduleResult result;
  std::vector<Scheduled> at;  // by instruction
};

inline Timeline RunSchedule(const Program& program, const Policy& policy = SmallPolicy(),
                            const Machine& machine = SmallMachine()) {
  Timeline timeline;
  timeline.at.resize(program.size());
  const auto result = Schedule(machine, policy, program, [&](uint64_t number, const Scheduled& at) {
    timeline.at[number] = at;
  });
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (result.ok()) timeline.result = *result;
  return timeline;
}

}  // namespace wt::chip
