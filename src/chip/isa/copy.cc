// tensor_copy and memset: moves within the on-chip memories.
#include <cmath>

#include "chip/bytes.h"
#include "chip/convert.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace copies {
namespace {

namespace tc = tensor_copy;

constexpr Param kTensorCopyParams[] = {
    {"dst", ParamKind::kDst},
    {"src", ParamKind::kSrc},
    {"engine", ParamKind::kEngine, "unknown", 0},
    {"name", ParamKind::kString, "None", 0},
};

EngineSet TensorCopyEngines(const Machine& machine, const Instr&) {
  EngineSet engines{Engine::kVector, Engine::kScalar, Engine::kGpSimd};
  if (machine.generation == Generation::kGen2) engines.remove(Engine::kScalar);
  return engines;
}

Status CheckTensorCopy(const Machine&, const Instr& instr) {
  const DType from = instr.operand(tc::kSrc).dtype, to = instr.operand(tc::kDst).dtype;
  if (from != to && (!Has(kComputeTypes, from) || !Has(kComputeTypes, to)))
    return KernelError(ErrorClass::kDtype, "tensor_copy: {} cannot be converted to {}",
                       DTypeName(from), DTypeName(to));
  return CheckSameSize(instr, tc::kDst, tc::kSrc);
}

Status ExecuteTensorCopy(ExecuteContext& context, const Instr&) {
  const Walk& from = context.walk(tc::kSrc);
  const Walk& to = context.walk(tc::kDst);
  if (from.pattern.dtype == to.pattern.dtype) {
    CopyRows(to, from, context.OverlapOf(tc::kSrc));
    MarkWritten(to);
    return {};
  }
  FloatReader in = context.Floats(tc::kSrc);
  FloatWriter out = context.FloatsOut(tc::kDst);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    std::copy_n(in.Rows(p, count), count * to.row_elements(), out.Rows(p, count));
    out.Done(p, count);
  });
  return {};
}

namespace ms = memset;

constexpr Param kMemsetParams[] = {
    {"dst", ParamKind::kDst},
    {"value", ParamKind::kFloat},
    {"engine", ParamKind::kEngine, "unknown", 0},
    {"name", ParamKind::kString, "None", 0},
};

Status CheckMemset(const Machine&, const Instr& instr) {
  const Arg& value = instr.args[ms::kValue];
  const DType dtype = instr.operand(ms::kDst).dtype;
  if (IsInteger(dtype) && value.kind == Arg::kFloat && value.f != std::floor(value.f))
    return KernelError(ErrorClass::kDtype, "memset: value {} does not fit dst, which is {}",
                       value.f, DTypeName(dtype));
  if (Has(kPackedTypes, dtype) && value.number() != 0)
    return KernelError(ErrorClass::kDtype, "memset: value {}; {} takes only 0", value.number(),
                       DTypeName(dtype));
  return {};
}

Status ExecuteMemset(ExecuteContext& context, const Instr& instr) {
  const Walk& to = context.walk(ms::kDst);
  const DType dtype = to.pattern.dtype;
  std::vector<std::byte> row(static_cast<size_t>(to.row_elements() * DTypeBytes(dtype)));
  StoreNumber(dtype, instr.args[ms::kValue].number(), to.row_elements(), row.data());
  FillRows(to, row.data());
  MarkWritten(to);
  return {};
}

}  // namespace
}  // namespace copies

const InstrDef kTensorCopy = {
    .name = "tensor_copy",
    .summary =
        "Copies a tile within SBUF and PSUM. The same bits when both element types are equal; "
        "otherwise through fp32, rounded to the type of dst.",
    .params = copies::kTensorCopyParams,
    .engines = {Engine::kVector, Engine::kScalar, Engine::kGpSimd},
    .default_engine = Engine::kUnknown,
    .candidates = copies::TensorCopyEngines,
    .check = copies::CheckTensorCopy,
    .execute = copies::ExecuteTensorCopy,
    .cost = cost::TensorCopy,
};

const InstrDef kMemset = {
    .name = "memset",
    .summary = "Fills a tile with one constant.",
    .params = copies::kMemsetParams,
    .engines = {Engine::kVector, Engine::kGpSimd},
    .default_engine = Engine::kUnknown,
    .check = copies::CheckMemset,
    .execute = copies::ExecuteMemset,
    .cost = cost::Memset,
};

}  // namespace wt::chip::isa
