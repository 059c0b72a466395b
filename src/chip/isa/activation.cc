// activation, activation_reduce, activate2: the Scalar engine; exponential: its like on Vector.
#include <algorithm>
#include <cmath>

#include "chip/activation.h"
#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace activations {
namespace {

constexpr uint8_t kOnChip = kInSbuf | kInPsum;
constexpr DTypeSet kScaleTypes = Types({DType::kF32});
constexpr DTypeSet kBiasTypes = kComputeTypes & ~Types({DType::kTF32});

// Which parameter of an instruction plays which part; -1: it has none.
struct Parts {
  int dst, op, data, bias, scale, reduce_op, reduce_res, reduce_cmd;
};

constexpr Parts kActivationParts = {
    activation::kDst,   activation::kOp,       activation::kData,      activation::kBias,
    activation::kScale, activation::kReduceOp, activation::kReduceRes, activation::kReduceCmd};
constexpr Parts kActivationReduceParts = {
    activation_reduce::kDst,       activation_reduce::kOp,
    activation_reduce::kData,      activation_reduce::kBias,
    activation_reduce::kScale,     activation_reduce::kReduceOp,
    activation_reduce::kReduceRes, -1};

constexpr Param kActivationParams[] = {
    {"dst", ParamKind::kDst, nullptr, kOnChip, kComputeTypes},
    {"op", ParamKind::kActivation},
    {"data", ParamKind::kSrc, nullptr, kOnChip, kComputeTypes},
    {"bias", ParamKind::kSrcOrFloat, "None", kOnChip, kBiasTypes},
    {"scale", ParamKind::kSrcOrFloat, "1.0", kOnChip, kScaleTypes},
    {"reduce_op", ParamKind::kAluOp, "None"},
    {"reduce_res", ParamKind::kDst, "None", kOnChip, kComputeTypes},
    {"reduce_cmd", ParamKind::kReduceCmd, "idle"},
    {"name", ParamKind::kString, "None"},
};

constexpr Param kActivationReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kOnChip, kComputeTypes},
    {"op", ParamKind::kActivation},
    {"data", ParamKind::kSrc, nullptr, kOnChip, kComputeTypes},
    {"reduce_op", ParamKind::kAluOp},
    {"reduce_res", ParamKind::kDst, "None", kOnChip, kComputeTypes},
    {"bias", ParamKind::kSrcOrFloat, "None", kOnChip, kBiasTypes},
    {"scale", ParamKind::kSrcOrFloat, "1.0", kOnChip, kScaleTypes},
    {"name", ParamKind::kString, "None"},
};

ReduceCmd CmdOf(const Instr& instr, const Parts& parts) {
  return parts.reduce_cmd < 0 ? ReduceCmd::kResetReduce
                              : instr.name_of<ReduceCmd>(parts.reduce_cmd);
}

bool Reduces(ReduceCmd cmd) { return cmd == ReduceCmd::kReduce || cmd == ReduceCmd::kResetReduce; }

Status CheckActivationWith(const Machine& machine, const Instr& instr, const Parts& parts) {
  WT_RETURN_IF_ERROR(CheckSameSize(instr, parts.dst, parts.data));
  WT_RETURN_IF_ERROR(CheckColumn(instr, parts.bias, parts.data));
  WT_RETURN_IF_ERROR(CheckColumn(instr, parts.scale, parts.data));
  WT_RETURN_IF_ERROR(CheckColumn(instr, parts.reduce_res, parts.data));
  if (machine.generation == Generation::kGen2 && instr.has(parts.bias) &&
      !instr.is_operand(parts.bias) && instr.args[static_cast<size_t>(parts.bias)].number() != 0)
    return KernelError(ErrorClass::kGeneration, "{} is a number; {} takes only a [P, 1] tensor",
                       OperandName(instr, parts.bias), machine.name);
  const ReduceCmd cmd = CmdOf(instr, parts);
  if (cmd == ReduceCmd::kLoadReduce)
    return KernelError(ErrorClass::kArgument, "{}: reduce_cmd load_reduce is not one it has",
                       instr.def->name);
  if (instr.has(parts.reduce_op) && instr.name_of<AluOp>(parts.reduce_op) != AluOp::kAdd)
    return KernelError(ErrorClass::kArgument, "{}: reduce_op {}; expected add", instr.def->name,
                       AluOpName(instr.name_of<AluOp>(parts.reduce_op)));
  if (Reduces(cmd) && !instr.has(parts.reduce_op))
    return KernelError(ErrorClass::kArgument,
                       "{}: reduce_cmd asks to reduce and reduce_op is missing", instr.def->name);
  return {};
}

// Sine goes on as a cubic outside its range: wrong, and defined.
bool HasRange(const ExecuteContext& context, Activation function) {
  const ActivationRule& rule = context.machine().activation(function);
  return context.check_ranges() && function != Activation::kSin &&
         (std::isfinite(rule.low) || std::isfinite(rule.high));
}

Status OutsideRange(const Instr& instr, Activation function, const ActivationRule& rule,
                    float argument, int64_t partition, int64_t element) {
  return KernelError(ErrorClass::kUndefined,
                     "{}: {} of {} (partition {}, element {}) is not defined; the scalar engine "
                     "takes {}{:g} to {:g} (NKI_CHECK_RANGES=0 lets it pass)",
                     instr.def->name, ActivationName(function), argument, partition, element,
                     rule.symmetric ? "magnitudes of " : "", rule.low, rule.high);
}

Status CheckRanges(ExecuteContext& context, const Instr& instr, const Parts& parts,
                   const float* scale, const float* bias) {
  const auto function = instr.name_of<Activation>(parts.op);
  if (!HasRange(context, function)) return {};
  const ActivationRule& rule = context.machine().activation(function);
  const Walk& from = context.walk(parts.data);
  const int64_t n = from.row_elements();
  FloatReader in = context.Floats(parts.data);
  for (int64_t p = 0; p < from.rows(); ++p) {
    const float* row = in.Row(p);
    const int64_t i = FirstOutside(row, scale[p], bias[p], static_cast<float>(rule.low),
                                   static_cast<float>(rule.high), rule.symmetric, n);
    if (i < n) return OutsideRange(instr, function, rule, row[i] * scale[p] + bias[p], p, i);
  }
  return {};
}

const float* ScaleOf(ExecuteContext& context, const Instr& instr, const Parts& parts,
                     int64_t rows) {
  if (instr.has(parts.scale)) return context.Scalars(parts.scale, rows);
  float* ones = context.state().scratch.Floats(rows);
  std::fill_n(ones, rows, 1.0f);
  return ones;
}

Status ExecuteActivationWith(ExecuteContext& context, const Instr& instr, const Parts& parts) {
  const Walk& to = context.walk(parts.dst);
  const int64_t rows = to.rows(), n = to.row_elements();
  const float* scale = ScaleOf(context, instr, parts, rows);
  const float* bias = context.Scalars(parts.bias, rows);
  WT_RETURN_IF_ERROR(CheckRanges(context, instr, parts, scale, bias));
  const auto function = instr.name_of<Activation>(parts.op);
  const ReduceCmd cmd = CmdOf(instr, parts);
  FloatReader in = context.Floats(parts.data);
  FloatWriter out = context.FloatsOut(parts.dst);
  float* sums = context.state().scalar_accumulator.data();
  ForBlocks(to, [&](int64_t p, int64_t count) {
    const float* data = in.Rows(p, count);
    float* results = out.Rows(p, count);
    for (int64_t i = 0; i < count; ++i) {
      float* row = results + i * n;
      float& sum = sums[p + i];
      ActivationRow(function, data + i * n, scale[p + i], bias[p + i], 0, row, n);
      if (cmd == ReduceCmd::kReset || cmd == ReduceCmd::kResetReduce) sum = 0;
      if (Reduces(cmd)) sum += ReduceRow(AluOp::kAdd, row, n);
    }
    out.Done(p, count);
  });
  if (instr.has(parts.reduce_res)) context.WriteColumn(parts.reduce_res, sums);
  return {};
}

Status CheckActivation(const Machine& machine, const Instr& instr) {
  return CheckActivationWith(machine, instr, kActivationParts);
}
Status ExecuteActivation(ExecuteContext& context, const Instr& instr) {
  return ExecuteActivationWith(context, instr, kActivationParts);
}
Status CheckActivationReduce(const Machine& machine, const Instr& instr) {
  return CheckActivationWith(machine, instr, kActivationReduceParts);
}
Status ExecuteActivationReduce(ExecuteContext& context, const Instr& instr) {
  return ExecuteActivationWith(context, instr, kActivationReduceParts);
}

}  // namespace
}  // namespace activations

const InstrDef kActivation = {
    .name = "activation",
    .summary =
        "dst = function(data * scale + bias) in fp32; scale and bias are numbers or one value a "
        "partition. By reduce_cmd the row sums of the results (before rounding) go to the engine's "
        "128 accumulators, and from there to reduce_res.",
    .params = activations::kActivationParams,
    .engines = {Engine::kScalar},
    .default_engine = Engine::kScalar,
    .check = activations::CheckActivation,
    .execute = activations::ExecuteActivation,
    .cost = cost::Activation,
};

const InstrDef kActivationReduce = {
    .name = "activation_reduce",
    .summary = "activation with reduce_cmd reset_reduce.",
    .params = activations::kActivationReduceParams,
    .engines = {Engine::kScalar},
    .default_engine = Engine::kScalar,
    .check = activations::CheckActivationReduce,
    .execute = activations::ExecuteActivationReduce,
    .cost = cost::ActivationReduce,
};

}  // namespace wt::chip::isa
