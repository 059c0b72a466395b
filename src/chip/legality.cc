#include "chip/legality.h"

#include <limits>

#include "chip/alu.h"
#include "chip/error_class.h"

namespace wt::chip {
namespace {

bool IsOperandKind(ParamKind kind) {
  return kind == ParamKind::kDst || kind == ParamKind::kDstRead || kind == ParamKind::kSrc ||
         kind == ParamKind::kSrcOrFloat || kind == ParamKind::kSrcs;
}

Role RoleOf(ParamKind kind) {
  if (kind == ParamKind::kDst) return Role::kWrite;
  return kind == ParamKind::kDstRead ? Role::kReadWrite : Role::kRead;
}

// What a message calls the kind of value that a parameter takes.
const char* Expected(ParamKind kind) {
  switch (kind) {
    case ParamKind::kDst:
    case ParamKind::kDstRead:
    case ParamKind::kSrc:
      return "a tensor";
    case ParamKind::kSrcOrFloat:
      return "a number or a [P, 1] tensor";
    case ParamKind::kSrcs:
      return "a tuple of tensors";
    case ParamKind::kFloat:
    case ParamKind::kInt:
      return "a number";
    case ParamKind::kBool:
      return "True or False";
    case ParamKind::kInts:
    case ParamKind::kPattern:
    case ParamKind::kFloats:
      return "a tuple of numbers";
    case ParamKind::kString:
      return "a string";
    default:
      return "a name from nki.language or nki.isa";
  }
}

bool KindFits(ParamKind kind, Arg::Kind given) {
  switch (kind) {
    case ParamKind::kDst:
    case ParamKind::kDstRead:
    case ParamKind::kSrc:
      return given == Arg::kOperand;
    case ParamKind::kSrcOrFloat:
      return given == Arg::kOperand || given == Arg::kFloat || given == Arg::kInt ||
             given == Arg::kBool;
    case ParamKind::kSrcs:
      return given == Arg::kOperands;
    case ParamKind::kFloat:
      return given == Arg::kFloat || given == Arg::kInt || given == Arg::kBool;
    case ParamKind::kInt:
      return given == Arg::kInt || given == Arg::kBool;
    case ParamKind::kBool:
      return given == Arg::kBool || given == Arg::kInt;
    case ParamKind::kInts:
    case ParamKind::kPattern:
    case ParamKind::kFloats:
      return given == Arg::kInts || given == Arg::kInt;
    case ParamKind::kString:
      return true;
    default:
      return given == Arg::kName;
  }
}

Status CheckGiven(const InstrDef& def, const Param& param, const Arg& arg) {
  if (!arg.given()) {
    if (param.default_value) return {};
    return KernelError(ErrorClass::kArgument, "{}: {} is missing; expected {}", def.name,
                       param.name, Expected(param.kind));
  }
  if (KindFits(param.kind, arg.kind)) return {};
  return KernelError(ErrorClass::kArgument, "{}: {} is of the wrong kind; expected {}", def.name,
                     param.name, Expected(param.kind));
}

uint8_t MemoryBit(Memory memory) { return static_cast<uint8_t>(1u << int(memory)); }

std::string MemoryList(uint8_t memories) {
  std::string text;
  for (Memory memory : {Memory::kSbuf, Memory::kPsum, Memory::kHbm, Memory::kRegister}) {
    if (memories & MemoryBit(memory))
      text += (text.empty() ? "" : ", ") + std::string(MemoryName(memory));
  }
  return text;
}

std::string TypeList(DTypeSet types) {
  std::string text;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (types >> i & 1) text += (text.empty() ? "" : ", ") + std::string(DTypeName(DType(i)));
  }
  return text;
}

Status CheckMemoryAndType(const InstrDef& def, const Param& param, const AccessPattern& pattern) {
  const Tensor& tensor = *pattern.tensor;
  const Memory memory = tensor.is_register ? Memory::kRegister : tensor.memory;
  if (!(param.memories & MemoryBit(memory)))
    return KernelError(ErrorClass::kMemory, "{}: {} is in {}; expected one of: {}", def.name,
                       param.name, MemoryName(memory), MemoryList(param.memories));
  if (!(param.dtypes >> int(pattern.dtype) & 1))
    return KernelError(ErrorClass::kDtype, "{}: {} is {}; expected one of: {}", def.name,
                       param.name, DTypeName(pattern.dtype), TypeList(param.dtypes));
  return {};
}

bool IsDma(const InstrDef& def) { return def.engines.has(Engine::kDma); }

// An operand of an instruction, for messages.
struct Place {
  const InstrDef& def;
  const Param& param;
  std::string name() const { return fmt::format("{}: {}", def.name, param.name); }
};

// Hardware addresses partitions in quarters: chip.md 3.1.
Status CheckStartPartition(const Machine& machine, const Place& place,
                           const AccessPattern& pattern) {
  const Tensor& tensor = *pattern.tensor;
  int start = pattern.start_partition + (tensor.address ? tensor.address->partition : 0);
  if (place.param.quadrant_offset && start % 32 <= 12 && start % 4 == 0) start -= start % 32;
  const int span = pattern.dims[0].step == 0 ? 1 : static_cast<int>(pattern.partitions());
  if (machine.StartAllowed(start, span)) return {};
  return KernelError(ErrorClass::kPartitions,
                     "{} starts at partition {} and spans {}; expected a start of {}", place.name(),
                     start, span,
                     span > 64   ? "0"
                     : span > 32 ? "0 or 64"
                                 : "0, 32, 64 or 96");
}

Status CheckOnChip(const Machine& machine, const Place& place, const AccessPattern& pattern) {
  if (pattern.partitions() > machine.partitions)
    return KernelError(ErrorClass::kPartitions, "{} spans {} partitions; there are {}: split it",
                       place.name(), pattern.partitions(), machine.partitions);
  if (IsDma(place.def)) return {};
  if (pattern.partitions() > 1 && pattern.dims[0].step != 1 && pattern.dims[0].step != 0)
    return KernelError(ErrorClass::kPartitions,
                       "{} takes every {}-th partition; engines take neighbouring ones: copy with "
                       "dma_copy",
                       place.name(), pattern.dims[0].step);
  WT_RETURN_IF_ERROR(CheckStartPartition(machine, place, pattern));
  if (const int dims = pattern.Merged().num_dims - 1; dims > machine.max_free_dims)
    return KernelError(ErrorClass::kFreeSize,
                       "{} walks {} free dimensions; expected at most {}: split it", place.name(),
                       dims, machine.max_free_dims);
  const int64_t most = pattern.tensor->memory == Memory::kPsum ? machine.max_psum_elements
                                                               : machine.max_sbuf_elements;
  if (pattern.free_elements() > most)
    return KernelError(ErrorClass::kFreeSize,
                       "{} has {} elements a partition; expected at most {}: split it",
                       place.name(), pattern.free_elements(), most);
  return {};
}

const Dynamic* DynamicOf(const Instr& instr, int64_t operand) {
  for (const Dynamic& dynamic : instr.dynamics) {
    if (dynamic.operand == operand) return &dynamic;
  }
  return nullptr;
}

// Numbers so large that sums and products of them could overflow are beyond every memory.
bool IsSane(const AccessPattern& pattern) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto small = [](int64_t x) { return x > -kMost && x < kMost; };
  if (pattern.num_dims < 1 || pattern.num_dims > kMaxDims || !small(pattern.offset)) return false;
  double elements = 1;
  for (int i = 0; i < pattern.num_dims; ++i) {
    const Dim& dim = pattern.dims[static_cast<size_t>(i)];
    if (!small(dim.step) || !small(dim.size) || dim.size < 0) return false;
    elements *= static_cast<double>(std::max<int64_t>(dim.size, 1));
    if (std::abs(static_cast<double>(dim.step)) * static_cast<double>(dim.size) > kMost)
      return false;
  }
  return elements < kMost;
}

Status CheckSane(const AccessPattern& pattern, const Place& place) {
  if (IsSane(pattern)) return {};
  return KernelError(ErrorClass::kOutOfBounds,
                     "{}: its sizes, steps or offset lead beyond every memory; check the pattern",
                     place.name());
}

Status CheckOperand(const Machine& machine, const Instr& instr, const Param& param,
                    int64_t operand) {
  const AccessPattern& pattern = instr.operands[static_cast<size_t>(operand)];
  const Place place = {*instr.def, param};
  WT_RETURN_IF_ERROR(CheckSane(pattern, place));
  WT_RETURN_IF_ERROR(CheckMemoryAndType(*instr.def, param, pattern));
  if (pattern.on_chip()) WT_RETURN_IF_ERROR(CheckOnChip(machine, place, pattern));
  if (DynamicOf(instr, operand)) return {};  // when it runs
  return InBounds(pattern) ? Status() : CheckBounds(pattern, place.name());
}

// What holds an offset that is known only at run time.
Status CheckIndex(const Instr& instr, const Dynamic& dynamic) {
  const AccessPattern& index = instr.operands[static_cast<size_t>(dynamic.index_operand)];
  const std::string name = fmt::format("{}: dynamic offset", instr.def->name);
  if (!IsSane(index))
    return KernelError(ErrorClass::kOutOfBounds, "{} leads beyond every memory", name);
  const Tensor& tensor = *index.tensor;
  if (!tensor.is_register && tensor.memory != Memory::kSbuf)
    return KernelError(ErrorClass::kMemory, "{} is in {}; expected sbuf or a register", name,
                       MemoryName(tensor.memory));
  if (!Has(kIntegerTypes, index.dtype))
    return KernelError(ErrorClass::kDtype, "{} is {}; expected integers", name,
                       DTypeName(index.dtype));
  if (!dynamic.vector && index.elements() != 1)
    return KernelError(ErrorClass::kShape, "{} has {} elements; a scalar offset has one", name,
                       index.elements());
  return CheckBounds(index, name);
}

std::string EngineList(EngineSet engines) {
  std::string text;
  for (int i = 0; i < kNumEngines; ++i) {
    if (engines.has(Engine(i)))
      text += (text.empty() ? "" : ", ") + std::string(EngineName(Engine(i)));
  }
  return text.empty() ? "none" : text;
}

EngineSet Unnamed(const Machine& machine, const Instr& instr) {
  const InstrDef& def = *instr.def;
  EngineSet engines = def.candidates ? def.candidates(machine, instr) : def.engines;
  if (AnyInPsum(instr)) engines.remove(Engine::kGpSimd);
  return engines;
}

Status CheckEngine(const Machine& machine, const Instr& instr) {
  const InstrDef& def = *instr.def;
  if (instr.engine == Engine::kGpSimd && def.engines.has(Engine::kGpSimd) && AnyInPsum(instr))
    return KernelError(ErrorClass::kMemory, "{}: the gpsimd engine cannot reach PSUM", def.name);
  if (!CandidateEngines(machine, instr).empty()) return {};
  const EngineSet able = Unnamed(machine, instr);
  if (able.empty())
    return KernelError(ErrorClass::kMemory,
                       "{}: only the gpsimd engine has this operation, and it cannot reach PSUM",
                       def.name);
  return KernelError(ErrorClass::kEngine,
                     "{}: the {} engine cannot execute it; expected one of: {}", def.name,
                     EngineName(instr.engine), EngineList(able));
}

}  // namespace

EngineSet CandidateEngines(const Machine& machine, const Instr& instr) {
  const EngineSet engines = Unnamed(machine, instr);
  if (instr.engine == Engine::kUnknown) return engines;
  return engines.has(instr.engine) ? EngineSet{instr.engine} : EngineSet{};
}

bool AnyInPsum(const Instr& instr) {
  for (const AccessPattern& pattern : instr.operands) {
    if (pattern.tensor->memory == Memory::kPsum) return true;
  }
  return false;
}

void CompleteInstr(Instr& instr) {
  const InstrDef& def = *instr.def;
  instr.roles.assign(instr.operands.size(), Role::kIndex);
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& param = def.params[i];
    const Arg& arg = instr.args[i];
    if (param.kind == ParamKind::kEngine && arg.kind == Arg::kName && !IsDma(def))
      instr.engine = static_cast<Engine>(arg.i);
    if (!IsOperandKind(param.kind)) continue;
    const int64_t count = arg.kind == Arg::kOperand    ? 1
                          : arg.kind == Arg::kOperands ? arg.count
                                                       : 0;
    for (int64_t k = 0; k < count; ++k)
      instr.roles[static_cast<size_t>(arg.i + k)] = RoleOf(param.kind);
  }
}

namespace {

Status CheckOpExists(const Machine& machine, const InstrDef& def, const Param& param,
                     const Arg& arg) {
  if (param.kind != ParamKind::kAluOp || !arg.given()) return {};
  const auto op = static_cast<AluOp>(arg.i);
  if (machine.generation >= SinceOf(op)) return {};
  return KernelError(ErrorClass::kGeneration,
                     "{}: {} {} does not exist on {}; it came with generation {}", def.name,
                     param.name, AluOpName(op), machine.name, int(SinceOf(op)));
}

// Instructions hold numbers of 32 bits, signed or not.
Status CheckFits(const InstrDef& def, const Param& param, const Arg& arg) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  if (param.kind != ParamKind::kInt || arg.kind != Arg::kInt) return {};
  if (arg.i >= kLeast && arg.i <= kMost) return {};
  return KernelError(ErrorClass::kArgument, "{}: {} is {}; expected a number of 32 bits", def.name,
                     param.name, arg.i);
}

}  // namespace

Status CheckInstr(const Machine& machine, const Instr& instr) {
  const InstrDef& def = *instr.def;
  if (machine.generation < def.since)
    return KernelError(ErrorClass::kGeneration,
                       "{}: {} does not have it; it came with generation {}", def.name,
                       machine.name, int(def.since));
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& param = def.params[i];
    const Arg& arg = instr.args[i];
    WT_RETURN_IF_ERROR(CheckGiven(def, param, arg));
    WT_RETURN_IF_ERROR(CheckOpExists(machine, def, param, arg));
    WT_RETURN_IF_ERROR(CheckFits(def, param, arg));
    const int64_t count = arg.kind == Arg::kOperand    ? 1
                          : arg.kind == Arg::kOperands ? arg.count
                                                       : 0;
    for (int64_t k = 0; k < count; ++k)
      WT_RETURN_IF_ERROR(CheckOperand(machine, instr, param, arg.i + k));
  }
  for (const Dynamic& dynamic : instr.dynamics) WT_RETURN_IF_ERROR(CheckIndex(instr, dynamic));
  WT_RETURN_IF_ERROR(CheckEngine(machine, instr));
  return def.check ? def.check(machine, instr) : Status();
}

std::string OperandName(const Instr& instr, int param) {
  return fmt::format("{}: {}", instr.def->name, instr.def->params[static_cast<size_t>(param)].name);
}

Status CheckSameSize(const Instr& instr, int a, int b) {
  const AccessPattern& x = instr.operand(a);
  const AccessPattern& y = instr.operand(b);
  if (x.partitions() == y.partitions() && x.free_elements() == y.free_elements()) return {};
  return KernelError(ErrorClass::kShape,
                     "{} has {} partitions of {} elements, {} has {} of {}; they must be equal",
                     OperandName(instr, a), x.partitions(), x.free_elements(),
                     instr.def->params[static_cast<size_t>(b)].name, y.partitions(),
                     y.free_elements());
}

Status CheckColumn(const Instr& instr, int param, int of) {
  if (instr.args[static_cast<size_t>(param)].kind != Arg::kOperand) return {};
  const AccessPattern& column = instr.operand(param);
  const int64_t partitions = instr.operand(of).partitions();
  if (column.partitions() == partitions && column.free_elements() == 1) return {};
  return KernelError(ErrorClass::kShape, "{} is [{}, {}]; expected a number or [{}, 1]",
                     OperandName(instr, param), column.partitions(), column.free_elements(),
                     partitions);
}

Status CheckNotBothPsum(const Instr& instr, int a, int b) {
  const auto in_psum = [&](int param) {
    return instr.args[static_cast<size_t>(param)].kind == Arg::kOperand &&
           instr.operand(param).tensor->memory == Memory::kPsum;
  };
  if (!in_psum(a) || !in_psum(b)) return {};
  return KernelError(ErrorClass::kMemory,
                     "{} and {} are both in psum; at most one may be: copy one to SBUF",
                     OperandName(instr, a), instr.def->params[static_cast<size_t>(b)].name);
}

}  // namespace wt::chip
