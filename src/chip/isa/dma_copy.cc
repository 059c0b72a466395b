// dma_copy: any way between SBUF and HBM, with conversion, gather and scatter.
#include "chip/bytes.h"
#include "chip/convert.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace dma_copy {
namespace {

constexpr uint8_t kDmaMemories = kInSbuf | kInHbm;
constexpr Param kParams[] = {
    {"dst", ParamKind::kDst, nullptr, kDmaMemories},
    {"src", ParamKind::kSrc, nullptr, kDmaMemories},
    {"priority", ParamKind::kInt, "None", 0},
    {"oob_mode", ParamKind::kOobMode, "error", 0},
    {"dge_mode", ParamKind::kDgeMode, "unknown", 0},
    {"engine", ParamKind::kEngine, "unknown", 0},
    {"name", ParamKind::kString, "None", 0},
};

bool HasVectorOffset(const Instr& instr) {
  for (const Dynamic& dynamic : instr.dynamics) {
    if (dynamic.vector) return true;
  }
  return false;
}

Status CheckHwdge(const Machine& machine, const Instr& instr) {
  if (machine.generation < Generation::kGen3)
    return KernelError(ErrorClass::kGeneration, "dma_copy: dge_mode hwdge does not exist on {}",
                       machine.name);
  const DType from = instr.operand(kSrc).dtype, to = instr.operand(kDst).dtype;
  if (from != to)
    return KernelError(
        ErrorClass::kDtype,
        "dma_copy: dge_mode hwdge moves bits; src is {} and dst {}: they must be equal",
        DTypeName(from), DTypeName(to));
  if (HasVectorOffset(instr))
    return KernelError(
        ErrorClass::kArgument,
        "dma_copy: dge_mode hwdge takes no vector offset; use swdge or leave it out");
  return {};
}

Status CheckModes(const Machine& machine, const Instr& instr) {
  const auto mode = instr.name_of<DgeMode>(kDgeMode);
  const auto engine = instr.name_of<Engine>(kEngine, Engine::kUnknown);
  if (instr.has(kPriority) && machine.generation < Generation::kGen4)
    return KernelError(ErrorClass::kGeneration, "dma_copy: priority does not exist on {}",
                       machine.name);
  if (engine != Engine::kUnknown && mode != DgeMode::kHwdge)
    return KernelError(ErrorClass::kEngine,
                       "dma_copy: engine may only be named together with dge_mode hwdge");
  if (engine != Engine::kUnknown && engine != Engine::kSync && engine != Engine::kScalar)
    return KernelError(ErrorClass::kEngine,
                       "dma_copy: the {} engine cannot trigger it; expected sync or scalar",
                       EngineName(engine));
  if (mode == DgeMode::kNone && !instr.dynamics.empty())
    return KernelError(ErrorClass::kArgument,
                       "dma_copy: dge_mode none cannot take offsets known only at run time");
  return mode == DgeMode::kHwdge ? CheckHwdge(machine, instr) : Status();
}

Status CheckDmaCopy(const Machine& machine, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckModes(machine, instr));
  const AccessPattern& src = instr.operand(kSrc);
  const AccessPattern& dst = instr.operand(kDst);
  if (src.elements() != dst.elements())
    return KernelError(ErrorClass::kShape,
                       "dma_copy: src has {} elements, dst {}; they must be equal", src.elements(),
                       dst.elements());
  if (src.dtype != dst.dtype && (!Has(kComputeTypes, src.dtype) || !Has(kComputeTypes, dst.dtype)))
    return KernelError(ErrorClass::kDtype, "dma_copy: {} cannot be converted to {}",
                       DTypeName(src.dtype), DTypeName(dst.dtype));
  if (HasVectorOffset(instr)) return CheckSameSize(instr, kDst, kSrc);
  return {};
}

// Sides that are cut into rows differently: as one sequence of elements.
void CopyFlat(const Walk& to, const Walk& from) {
  const int64_t n = from.pattern.elements();
  std::vector<std::byte> bytes(static_cast<size_t>(n * DTypeBytes(from.pattern.dtype)));
  GatherBytes(from, bytes.data());
  if (from.pattern.dtype != to.pattern.dtype) {
    std::vector<float> values(static_cast<size_t>(n));
    LoadFloats(from.pattern.dtype, bytes.data(), 1, n, values.data());
    bytes.resize(static_cast<size_t>(n * DTypeBytes(to.pattern.dtype)));
    StoreFloats(to.pattern.dtype, bytes.data(), 1, n, values.data());
  }
  ScatterBytes(to, bytes.data());
}

void ConvertRows(ExecuteContext& context, const Walk& to, const Walk& from) {
  FloatReader in = context.Floats(kSrc);
  float* row = context.state().scratch.Floats(from.row_elements());
  for (int64_t p = 0; p < to.rows(); ++p) {
    if (!from.Row(p) || !to.Row(p)) continue;
    std::copy_n(in.Row(p), from.row_elements(), row);
    StoreRow(to, p, row);
  }
}

Status ExecuteDmaCopy(ExecuteContext& context, const Instr&) {
  const Walk& from = context.walk(kSrc);
  const Walk& to = context.walk(kDst);
  if (from.skipped || to.skipped) return {};
  if (from.rows() != to.rows()) {
    CopyFlat(to, from);
  } else if (from.pattern.dtype == to.pattern.dtype) {
    CopyRows(to, from, context.OverlapOf(kSrc));
  } else {
    ConvertRows(context, to, from);
  }
  MarkWrittenWhereRead(to, from);
  return {};
}

}  // namespace
}  // namespace dma_copy

const InstrDef kDmaCopy = {
    .name = "dma_copy",
    .summary =
        "Copies between SBUF and HBM in any direction through the DMA engines, element by element "
        "in order; converts through fp32 when the element types differ. Offsets known only at run "
        "time select one place (scalar) or one row a partition (gather, scatter); what lies out of "
        "bounds is an error or is skipped, by oob_mode.",
    .params = dma_copy::kParams,
    .engines = {Engine::kDma},
    .default_engine = Engine::kDma,
    .check = dma_copy::CheckDmaCopy,
    .execute = dma_copy::ExecuteDmaCopy,
    .cost = cost::DmaCopy,
};

}  // namespace wt::chip::isa
