// The instruction table's row. An instruction is one InstrDef in isa/ and one line in isa_table.cc:
// its parameters, legality, semantics, engines and cost rule. Execution, timing, the Python
// binding's argument checks and docs/ISA.md all read this table; no other list of instructions
// exists.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "chip/instr.h"

namespace wt::chip {

class Machine;         // machine.h
class ExecuteContext;  // execute.h: values
struct Cost;           // cost.h: time

enum class Generation : uint8_t { kGen2 = 2, kGen3 = 3, kGen4 = 4 };  // trn1, trn2, trn3

// Two-input operations of the Vector and GpSimd engines, and reductions. docs: chip.md 9.
enum class AluOp : uint8_t {
  kBypass,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kPower,
  kMod,
  kFmod,
  kAbsMax,
  kAbsMin,
  kAverage,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kLogicalNot,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kInvert,
  kLeftShift,
  kRightShift,
  kArithShiftRight,
  kAbs,
  kSquare,
  kRelu,
  kRsqrt,
  kSqrt,
  kReciprocal,
  kNegative,  // one-input forms that some ops accept as op0
  kCount
};
// Functions of the Scalar engine.
enum class Activation : uint8_t {
  kCopy,
  kIdentity,
  kSquare,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kArctan,
  kTanh,
  kSigmoid,
  kRelu,
  kPrelu,
  kLeakyRelu,
  kGelu,
  kGeluDx,
  kGeluApprxTanh,
  kGeluApprxTanhDx,
  kGeluApprxSigmoid,
  kGeluApprxSigmoidDx,
  kSilu,
  kSiluDx,
  kSoftplus,
  kMish,
  kErf,
  kErfDx,
  kAbs,
  kSign,
  kCeil,
  kFloor,
  kTrunc,
  kCount
};
const char* AluOpName(AluOp op);  // as in nki.language: "add"
const char* ActivationName(Activation function);

enum class ReduceCmd : uint8_t { kIdle, kReset, kReduce, kResetReduce, kLoadReduce };
enum class DgeMode : uint8_t { kUnknown, kSwdge, kHwdge, kNone };
enum class OobMode : uint8_t { kError, kSkip };
enum class PerfMode : uint8_t { kNone, kDoubleRow };

enum class ParamKind : uint8_t {
  kDst,         // operand written
  kDstRead,     // operand read and written (reduce_res, accumulators)
  kSrc,         // operand read
  kSrcOrFloat,  // [P, 1] operand or a number
  kSrcs,        // a tuple of operands read
  kFloat,
  kInt,
  kBool,  // None allowed when the default is None: Arg::kNone
  kAluOp,
  kActivation,
  kEngine,
  kReduceCmd,
  kDgeMode,
  kOobMode,
  kPerfMode,
  kDmaEngine,
  kInts,     // an int or a tuple/list of them
  kPattern,  // [[step, size], …]
  kFloats,   // numbers, kept in ints as bit patterns of double
  kString,   // goes to Instr::name
};

inline constexpr uint8_t kInSbuf = 1, kInPsum = 2, kInHbm = 4, kInRegister = 8;
using DTypeSet = uint32_t;  // bit i: DType(i)
constexpr DTypeSet Types(std::initializer_list<DType> dtypes) {
  DTypeSet set = 0;
  for (DType dtype : dtypes) set |= 1u << int(dtype);
  return set;
}
inline constexpr DTypeSet kAnyType = ~DTypeSet{0};
// What engines convert to and from fp32: all but 64-bit integers, scales and packed kinds.
inline constexpr DTypeSet kComputeTypes =
    Types({DType::kF32, DType::kBF16, DType::kF16, DType::kTF32, DType::kF8E4M3, DType::kF8E4M3FN,
           DType::kF8E5M2, DType::kI32, DType::kU32, DType::kI16, DType::kU16, DType::kI8,
           DType::kU8, DType::kBool});
inline constexpr DTypeSet kIntegerTypes = Types(
    {DType::kI32, DType::kU32, DType::kI16, DType::kU16, DType::kI8, DType::kU8, DType::kBool});
inline constexpr DTypeSet kPackedTypes =
    Types({DType::kF8E4M3FNx4, DType::kF8E5M2x4, DType::kF4E2M1FNx4});
constexpr bool Has(DTypeSet set, DType dtype) { return set >> int(dtype) & 1; }

struct Param {
  const char* name;
  ParamKind kind;
  const char* default_value =
      nullptr;  // as Python writes it ("None", "1.0", "add"); null: required
  uint8_t memories = kInSbuf | kInPsum;  // where an operand may be
  DTypeSet dtypes = kAnyType;
  bool partial = false;          // the semantics read some of it and check that part (isa/part.h)
  bool quadrant_offset = false;  // may start 4, 8 or 12 partitions into a quadrant: scales of MX
};

struct InstrDef {
  const char* name;     // as in nki.isa
  const char* summary;  // semantics, in our words; for docs/ISA.md
  std::span<const Param> params;
  EngineSet
      engines;  // that can execute it; the first choice of an unnamed engine is default_engine
  Engine default_engine;  // kUnknown: the compiler policy balances between `engines`
  Generation since = Generation::kGen2;
  // Narrows `engines` for one instruction (an operation that only GpSimd has). May be null. Use
  // CandidateEngines of legality.h, which knows of PSUM too.
  EngineSet (*candidates)(const Machine& machine, const Instr& instr) = nullptr;
  // Legality beyond what the parameters say (those are checked before, by legality.h). May be null.
  Status (*check)(const Machine& machine, const Instr& instr) = nullptr;
  // Values. Reads and writes through the context; requires a checked instruction.
  Status (*execute)(ExecuteContext& context, const Instr& instr) = nullptr;
  // Time on one engine; requires a checked instruction and engine in `engines`.
  Cost (*cost)(const Machine& machine, const Instr& instr, Engine engine) = nullptr;
};

std::span<const InstrDef* const> AllInstrs();
const InstrDef* FindInstr(std::string_view name);

// Finds a parameter of `def`; -1 when there is none. For tests and tools; hot code uses enums.
int ParamIndex(const InstrDef& def, std::string_view name);

}  // namespace wt::chip
