// Values: what an instruction's semantics see. Operands are read and written by rows, one partition
// at a time, with dtypes converted; every byte read has been checked against the shadow before. A
// semantic behaves as if all operands were read before anything is written.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "chip/core.h"

namespace wt::chip {

// What outlives an instruction on one core: PSUM accumulation groups, engine accumulators, random
// state.
class ExecuteState {
 public:
  explicit ExecuteState(uint64_t seed);

  // Per-partition fp32 accumulators of the Scalar (activation) and Vector (reduce_cmd) engines.
  std::array<float, 128> scalar_accumulator{};
  std::array<float, 128> vector_accumulator{};
  bool vector_accumulator_set = false;  // a reduce_cmd has given it a value
  // Random state per engine kind and partition: six words, as XORWOW on GpSimd (chip.md 8).
  std::array<std::array<uint32_t, 6>, 128> gpsimd_random{};
  std::array<uint32_t, 128> vector_random{};
};

class ExecuteContext {
 public:
  ExecuteContext(Core& core, const Instr& instr) : core_(core), instr_(instr) {}

  Core& core() { return core_; }
  const Machine& machine() const { return core_.machine(); }
  ExecuteState& state() { return core_.state(); }
  const Instr& instr() const { return instr_; }
  bool precise_fp() const { return core_.options().precise_fp; }
  // "tensor_scalar: operand0", for messages.
  std::string OperandName(int param) const;

  // The operand as dense [partitions, free_elements], whole: simple, for instructions that no
  // kernel's time hangs on. Uninitialised bytes are an error. Dynamic offsets are applied.
  Result<std::vector<float>> ReadFloats(int param);
  Result<std::vector<int64_t>> ReadInts(
      int param);  // integer dtypes exactly; floats truncated toward zero
  Result<std::vector<uint32_t>> ReadBits(int param);  // raw bits, zero-extended
  // Writes all of it, rounding to the operand's dtype (nearest even; floats to integers: nearest
  // even, saturating). Marks the bytes as written.
  void WriteFloats(int param, std::span<const float> values);
  void WriteInts(int param, std::span<const int64_t> values);  // low bits kept
  void WriteBits(int param, std::span<const uint32_t> values);
  // A [P, 1] operand or a number: one value a partition (kSrcOrFloat parameters).
  Result<std::vector<float>> ReadScalars(int param, int64_t partitions);

 private:
  Core& core_;
  const Instr& instr_;
};

}  // namespace wt::chip
