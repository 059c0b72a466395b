// One instruction as a kernel issued it: the row of the instruction table, operands and immediates.
// execute (values) and cost (time) read it; the scheduler sees only what cost.h makes of it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "chip/access_pattern.h"

namespace wt::chip {

enum class Engine : uint8_t { kTensor, kVector, kScalar, kGpSimd, kSync, kDma, kUnknown };
inline constexpr int kNumEngines = 6;
const char* EngineName(Engine engine);  // "tensor", "vector", …

struct EngineSet {
  uint8_t bits = 0;
  constexpr EngineSet() = default;
  constexpr EngineSet(std::initializer_list<Engine> engines) {
    for (Engine engine : engines) bits |= uint8_t(1u << int(engine));
  }
  constexpr bool has(Engine engine) const { return bits >> int(engine) & 1; }
  constexpr bool empty() const { return bits == 0; }
  constexpr void remove(Engine engine) { bits &= uint8_t(~(1u << int(engine))); }
};

struct InstrDef;  // isa.h

// The value of one parameter. Which member holds is decided by the parameter's kind.
struct Arg {
  enum Kind : uint8_t {
    kNone,     // not given, or None
    kOperand,  // i: index into Instr::operands
    kFloat,    // f
    kInt,      // i
    kBool,     // i
    kName,     // i: an AluOp, Activation, Engine or other enum of isa.h, by the parameter's kind
    kInts,  // i, count: a span of Instr::ints; a tuple of integers (axes, patterns: step and size
            // in turns, masks)
    kOperands,  // i, count: consecutive operands (dma_compute's sources)
  };
  Kind kind = kNone;
  int32_t count = 0;
  int64_t i = 0;
  double f = 0;

  bool given() const { return kind != kNone; }
  bool is_number() const { return kind == kFloat || kind == kInt || kind == kBool; }
  double number() const { return kind == kFloat ? f : static_cast<double>(i); }
};

enum class Role : uint8_t {
  kRead,
  kWrite,
  kReadWrite,
  kIndex
};  // kIndex: offsets of another operand

// An offset that is known only when the instruction runs (chip.md 3.1, nki_surface.md 3).
struct Dynamic {
  int operand = 0;        // whose offset
  int index_operand = 0;  // the register, [1, 1] tensor or index tensor that holds it
  bool vector = false;    // an index a partition (gather, scatter) instead of one for all
  int indirect_dim = 0;   // which dimension of the tensor the index counts
  int64_t unit = 1;       // elements by which the index is multiplied
};

inline constexpr int kMaxParams = 20;

struct Instr {
  const InstrDef* def = nullptr;
  Engine engine = Engine::kUnknown;  // as the kernel named it; kUnknown: the policy's choice
  SourceId source = 0;
  uint32_t ordered_group = 0;        // instructions of one no_reorder block share a number; 0: none
  std::array<Arg, kMaxParams> args;  // by the order of def->params
  std::vector<AccessPattern> operands;
  std::vector<Role> roles;  // parallel to operands
  std::vector<int64_t> ints;
  std::vector<Dynamic> dynamics;
  std::vector<uint64_t> depends_on;  // numbers of earlier instructions named by the kernel
  std::string name;                  // the kernel's own name for it, often empty
  uint64_t number = 0;               // 1, 2, … in the order of issue on this core

  const AccessPattern& operand(int param) const {
    return operands[static_cast<size_t>(args[static_cast<size_t>(param)].i)];
  }
  // A named value: name_of<AluOp>(kOp); `fallback` when the kernel did not give it.
  template <class E>
  E name_of(int param, E fallback = {}) const {
    const Arg& arg = args[static_cast<size_t>(param)];
    return arg.given() ? static_cast<E>(arg.i) : fallback;
  }
  bool flag(int param) const { return has(param) && args[static_cast<size_t>(param)].i != 0; }
  bool is_operand(int param) const {
    return args[static_cast<size_t>(param)].kind == Arg::kOperand;
  }
  bool has(int param) const { return args[static_cast<size_t>(param)].given(); }
  // A tuple of integers; one integer is a tuple of one.
  std::span<const int64_t> ints_of(int param) const {
    const Arg& arg = args[static_cast<size_t>(param)];
    if (arg.kind == Arg::kInt) return {&arg.i, 1};
    return {ints.data() + arg.i, static_cast<size_t>(arg.count)};
  }
};

}  // namespace wt::chip
