// Values: what an instruction's semantics see. Operands are read and written by rows, one partition
// at a time, with dtypes converted; every byte read has been checked against the shadow before. A
// semantic behaves as if all operands were read before anything is written.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "chip/core.h"
#include "chip/isa/generator.h"
#include "chip/rows.h"

namespace wt::chip {

// What outlives an instruction on one core: engine accumulators, random state, scratch memory.
class ExecuteState {
 public:
  explicit ExecuteState(uint64_t seed);
  void SeedVectorGenerator(uint64_t seed);

  // Per-partition fp32 accumulators of the Scalar (activation) and Vector (reduce_cmd) engines.
  std::array<float, 128> scalar_accumulator{};
  std::array<float, 128> vector_accumulator{};
  bool vector_accumulator_set = false;  // a reduce_cmd has given it a value
  // Random state per engine kind and partition: six words, as XORWOW on GpSimd (chip.md 8).
  std::array<XorwowState, 128> gpsimd_random{};
  std::array<uint32_t, 128> vector_random{};                    // before generation 4
  std::array<std::array<XorwowState, 4>, 128> vector_xorwow{};  // from generation 4 on

  Arena scratch;            // emptied before each instruction
  std::vector<Walk> walks;  // of the instruction being executed
};

class ExecuteContext {
 public:
  ExecuteContext(Core& core, const Instr& instr)
      : core_(core), instr_(instr), walks_(core.state().walks) {}

  // Applies dynamic offsets and checks what depends on them: bounds, and that everything read was
  // written. Called once, before the row's execute.
  Status Prepare();

  Core& core() { return core_; }
  const Machine& machine() const { return core_.machine(); }
  ExecuteState& state() { return core_.state(); }
  const Instr& instr() const { return instr_; }
  bool precise_fp() const { return core_.options().precise_fp; }
  bool check_ranges() const { return core_.options().check_ranges; }
  // "tensor_scalar: operand0", for messages.
  std::string OperandName(int param) const;
  // Where the operand really lies, dynamic offsets applied.
  const Walk& walk(int param) const { return walks_[static_cast<size_t>(index(param))]; }
  // The k-th operand of a kSrcs parameter.
  const Walk& walk(int param, int k) const { return walks_[static_cast<size_t>(index(param) + k)]; }

  // The operand as dense [partitions, free_elements], whole: simple, for instructions that no
  // kernel's time hangs on.
  Result<std::vector<float>> ReadFloats(int param);
  // Integer dtypes exactly; floats truncated toward zero.
  Result<std::vector<int64_t>> ReadInts(int param);
  Result<std::vector<uint32_t>> ReadBits(int param);  // raw bits, zero-extended
  // Writes all of it, rounding to the operand's dtype (nearest even; floats to integers: nearest
  // even, saturating). Marks the bytes as written.
  void WriteFloats(int param, std::span<const float> values);
  void WriteInts(int param, std::span<const int64_t> values);  // low bits kept
  void WriteBits(int param, std::span<const uint32_t> values);
  // One value a partition to a [P, 1] operand.
  void WriteColumn(int param, const float* values);
  // A [P, 1] operand or a number: one value a partition (kSrcOrFloat parameters).
  Result<std::vector<float>> ReadScalars(int param, int64_t partitions);

  // The operand row by row, for hot loops (rows.h). A reader never sees what this instruction
  // writes. Bytes of an operand to write count as written from here on.
  FloatReader Floats(int param);
  FloatWriter FloatsOut(int param);
  WordReader Words(int param);  // raw bits
  WordWriter WordsOut(int param);
  // For parameters marked partial: an error when something of this part of it is unwritten.
  Status CheckPartWritten(const Walk& part, int param) const;
  // How the operand meets those that the instruction writes.
  Overlap OverlapOf(int param) const;
  // One value a partition, valid for this instruction.
  const float* Scalars(int param, int64_t partitions);

 private:
  int64_t index(int param) const { return instr_.args[static_cast<size_t>(param)].i; }
  Status ApplyDynamic(const Dynamic& dynamic);
  Status CheckReads() const;

  Core& core_;
  const Instr& instr_;
  std::vector<Walk>& walks_;  // by operand
};

// Marks the bytes of a walk as written; rows that a dynamic offset skips stay as they are.
void MarkWritten(const Walk& walk, Writer writer = Writer::kEngine);
// The same without the rows that `source` skips.
void MarkWrittenWhereRead(const Walk& walk, const Walk& source);

}  // namespace wt::chip
