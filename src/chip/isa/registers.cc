// The sequencers' 32-bit registers: loop counts, conditions and dynamic offsets.
#include <cstdint>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace registers {
namespace {

// Any sequencer has registers; the compiler keeps a copy wherever one is needed.
constexpr EngineSet kSequencers = {Engine::kTensor, Engine::kVector, Engine::kScalar,
                                   Engine::kGpSimd, Engine::kSync};

constexpr Param kMoveParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInRegister},
    {"src", ParamKind::kSrcOrFloat, nullptr, kInRegister},
};
constexpr Param kLoadParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInRegister},
    {"src", ParamKind::kSrc, nullptr, kInSbuf | kInHbm, kComputeTypes},
};
constexpr Param kStoreParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInHbm, kComputeTypes},
    {"src", ParamKind::kSrc, nullptr, kInRegister},
};

Status CheckMove(const Machine&, const Instr& instr) {
  const Arg& src = ArgOf(instr, register_move::kSrc);
  if (!src.is_number()) return {};
  if (src.kind == Arg::kFloat) {
    return KernelError(ErrorClass::kArgument,
                       "{} is {}; expected a whole number or a register: registers hold integers",
                       OperandName(instr, register_move::kSrc), src.f);
  }
  return CheckIntRange(instr, register_move::kSrc, INT32_MIN, int64_t{UINT32_MAX});
}

Status CheckOneElement(const Instr& instr, int param) {
  if (instr.operand(param).elements() == 1) return {};
  return KernelError(ErrorClass::kShape, "{} has {} elements; expected one",
                     OperandName(instr, param), instr.operand(param).elements());
}

Status CheckLoad(const Machine&, const Instr& instr) {
  return CheckOneElement(instr, register_load::kSrc);
}

Status CheckStore(const Machine&, const Instr& instr) {
  return CheckOneElement(instr, register_store::kDst);
}

// Signed integers are extended to 32 bits; everything else keeps its bits.
Result<uint32_t> ReadWord(ExecuteContext& context, int param) {
  if (IsInteger(context.instr().operand(param).dtype)) {
    WT_ASSIGN_OR_RETURN(const std::vector<int64_t> value, context.ReadInts(param));
    return static_cast<uint32_t>(value[0]);
  }
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> bits, context.ReadBits(param));
  return bits[0];
}

Status ExecuteMove(ExecuteContext& context, const Instr& instr) {
  using namespace register_move;  // NOLINT
  auto word = static_cast<uint32_t>(IntOf(instr, kSrc));
  if (instr.is_operand(kSrc)) {
    WT_ASSIGN_OR_RETURN(word, ReadWord(context, kSrc));
  }
  context.WriteBits(kDst, std::array{word});
  return {};
}

Status ExecuteLoad(ExecuteContext& context, const Instr&) {
  WT_ASSIGN_OR_RETURN(const uint32_t word, ReadWord(context, register_load::kSrc));
  context.WriteBits(register_load::kDst, std::array{word});
  return {};
}

Status ExecuteStore(ExecuteContext& context, const Instr&) {
  WT_ASSIGN_OR_RETURN(const uint32_t word, ReadWord(context, register_store::kSrc));
  context.WriteBits(register_store::kDst, std::array{word});
  return {};
}

}  // namespace
}  // namespace registers

const InstrDef kRegisterMove = {
    .name = "register_move",
    .summary = "Sets a 32-bit register to a constant or to the value of another register.",
    .params = registers::kMoveParams,
    .engines = registers::kSequencers,
    .default_engine = Engine::kSync,
    .check = registers::CheckMove,
    .execute = registers::ExecuteMove,
    .cost = cost::RegisterMove,
};

const InstrDef kRegisterLoad = {
    .name = "register_load",
    .summary =
        "Loads one element of SBUF or HBM into a register: narrower signed integers are "
        "extended, other types keep their bits.",
    .params = registers::kLoadParams,
    .engines = registers::kSequencers,
    .default_engine = Engine::kSync,
    .check = registers::CheckLoad,
    .execute = registers::ExecuteLoad,
    .cost = cost::RegisterLoad,
};

const InstrDef kRegisterStore = {
    .name = "register_store",
    .summary =
        "Stores a register to one element of SBUF or HBM; narrower elements take the low "
        "bits.",
    .params = registers::kStoreParams,
    .engines = registers::kSequencers,
    .default_engine = Engine::kSync,
    .check = registers::CheckStore,
    .execute = registers::ExecuteStore,
    .cost = cost::RegisterStore,
};

}  // namespace wt::chip::isa
