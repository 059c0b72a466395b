// activate2 and exponential, which came with NeuronCore-v4.
#include <algorithm>

#include "chip/activation.h"
#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/accumulator.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace activations4 {
namespace {

constexpr uint8_t kOnChip = kInSbuf | kInPsum;

// activate2

namespace a2 = activate2;

constexpr Param kActivate2Params[] = {
    {"dst", ParamKind::kDst, nullptr, kOnChip, kComputeTypes},
    {"op", ParamKind::kActivation},
    {"data", ParamKind::kSrc, nullptr, kOnChip, kComputeTypes},
    {"imm0", ParamKind::kSrcOrFloat, nullptr, kOnChip, kComputeTypes},
    {"imm1", ParamKind::kSrcOrFloat, nullptr, kOnChip, kComputeTypes},
    {"op0", ParamKind::kAluOp},
    {"op1", ParamKind::kAluOp},
    {"relu_param", ParamKind::kSrcOrFloat, "0.0", kOnChip, kComputeTypes},
    {"reverse0", ParamKind::kBool, "False"},
    {"reverse1", ParamKind::kBool, "False"},
    {"reduce_op", ParamKind::kAluOp, "None"},
    {"reduce_res", ParamKind::kDst, "None", kOnChip, kComputeTypes},
    {"reduce_cmd", ParamKind::kReduceCmd, "idle"},
    {"name", ParamKind::kString, "None"},
};

bool IsStagePair(AluOp op0, AluOp op1) {
  if (op0 == AluOp::kMultiply)
    return op1 == AluOp::kAdd || op1 == AluOp::kSubtract || op1 == AluOp::kBypass;
  return (op0 == AluOp::kAdd || op0 == AluOp::kSubtract || op0 == AluOp::kBypass) &&
         op1 == AluOp::kBypass;
}

bool IsActivate2Reduction(AluOp op) {
  return op == AluOp::kAdd || op == AluOp::kMaximum || op == AluOp::kMinimum ||
         op == AluOp::kAbsMax || op == AluOp::kAbsMin;
}

Status CheckActivate2(const Machine&, const Instr& instr) {
  const auto op0 = instr.name_of<AluOp>(a2::kOp0), op1 = instr.name_of<AluOp>(a2::kOp1);
  if (!IsStagePair(op0, op1))
    return KernelError(ErrorClass::kArgument,
                       "activate2: op0 {} and op1 {} are not a pair it has; expected multiply with "
                       "add, subtract or bypass, or add, subtract or bypass with bypass",
                       AluOpName(op0), AluOpName(op1));
  if ((instr.flag(a2::kReverse0) && op0 == AluOp::kBypass) ||
      (instr.flag(a2::kReverse1) && op1 == AluOp::kBypass))
    return KernelError(ErrorClass::kArgument, "activate2: reverse needs an operation to reverse");
  const auto cmd = instr.name_of<ReduceCmd>(a2::kReduceCmd);
  if (cmd == ReduceCmd::kLoadReduce)
    return KernelError(ErrorClass::kArgument,
                       "activate2: reduce_cmd load_reduce is not one it has");
  const bool reduces = cmd == ReduceCmd::kReduce || cmd == ReduceCmd::kResetReduce;
  if (reduces && !IsActivate2Reduction(instr.name_of<AluOp>(a2::kReduceOp)))
    return KernelError(
        ErrorClass::kArgument,
        "activate2: reduce_op is not one of add, maximum, minimum, abs_max, abs_min");
  for (int column : {int(a2::kImm0), int(a2::kImm1), int(a2::kReluParam), int(a2::kReduceRes)})
    WT_RETURN_IF_ERROR(CheckColumn(instr, column, a2::kData));
  if (instr.is_operand(a2::kImm0)) WT_RETURN_IF_ERROR(CheckSameDtype(instr, a2::kImm0, a2::kImm1));
  return CheckSameSize(instr, a2::kDst, a2::kData);
}

Status ExecuteActivate2(ExecuteContext& context, const Instr& instr) {
  const Walk& to = context.walk(a2::kDst);
  const int64_t rows = to.rows(), n = to.row_elements();
  const float* imm0 = context.Scalars(a2::kImm0, rows);
  const float* imm1 = context.Scalars(a2::kImm1, rows);
  const float* alpha = context.Scalars(a2::kReluParam, rows);
  const auto op0 = instr.name_of<AluOp>(a2::kOp0), op1 = instr.name_of<AluOp>(a2::kOp1);
  const auto reduce = instr.name_of<AluOp>(a2::kReduceOp, AluOp::kAdd);
  const auto cmd = instr.name_of<ReduceCmd>(a2::kReduceCmd);
  FloatReader in = context.Floats(a2::kData);
  FloatWriter out = context.FloatsOut(a2::kDst);
  float* held = context.state().scalar_accumulator.data();
  for (int64_t p = 0; p < rows; ++p) {
    float* row = out.Row(p);
    AluScalar(op0, in.Row(p), imm0[p], instr.flag(a2::kReverse0), row, n);
    AluScalar(op1, row, imm1[p], instr.flag(a2::kReverse1), row, n);
    ActivationRow(instr.name_of<Activation>(a2::kOp), row, 1, 0, alpha[p], row, n);
    if (cmd == ReduceCmd::kReset || cmd == ReduceCmd::kResetReduce) held[p] = Identity(reduce);
    if (cmd == ReduceCmd::kReduce || cmd == ReduceCmd::kResetReduce)
      held[p] = Apply(reduce, held[p], ReduceRow(reduce, row, n));
    out.Done(p);
  }
  if (instr.has(a2::kReduceRes)) context.WriteColumn(a2::kReduceRes, held);
  return {};
}

// exponential

namespace ex = exponential;

constexpr DTypeSet kExpSources = kComputeTypes & ~Types({DType::kTF32, DType::kBool});
constexpr DTypeSet kExpResults = kComputeTypes & ~Types({DType::kU32, DType::kBool});
constexpr DTypeSet kFloats = kComputeTypes & ~kIntegerTypes;
constexpr Param kExponentialParams[] = {
    {"dst", ParamKind::kDst, nullptr, kOnChip, kExpResults},
    {"src", ParamKind::kSrc, nullptr, kOnChip, kExpSources},
    {"max_value", ParamKind::kSrcOrFloat, "0.0", kOnChip, Types({DType::kF32})},
    {"reduce_res", ParamKind::kDst, "None", kOnChip, kFloats},
    {"reduce_cmd", ParamKind::kReduceCmd, "idle"},
    {"reduce_init", ParamKind::kSrcOrFloat, "0.0", kOnChip, Types({DType::kF32})},
    {"name", ParamKind::kString, "None"},
};

Status CheckExponential(const Machine&, const Instr& instr) {
  const auto cmd = instr.name_of<ReduceCmd>(ex::kReduceCmd);
  if (cmd == ReduceCmd::kReset)
    return KernelError(ErrorClass::kArgument, "exponential: reduce_cmd reset is not one it has");
  const bool starts =
      instr.is_operand(ex::kReduceInit) || instr.args[ex::kReduceInit].number() != 0;
  if (cmd != ReduceCmd::kLoadReduce && starts)
    return KernelError(ErrorClass::kArgument,
                       "exponential: reduce_init is used only with reduce_cmd load_reduce");
  WT_RETURN_IF_ERROR(CheckAccumulate(instr, cmd, ex::kReduceRes, -1, ex::kSrc));
  WT_RETURN_IF_ERROR(CheckColumn(instr, ex::kMaxValue, ex::kSrc));
  WT_RETURN_IF_ERROR(CheckColumn(instr, ex::kReduceInit, ex::kSrc));
  return CheckSameSize(instr, ex::kDst, ex::kSrc);
}

Status ExecuteExponential(ExecuteContext& context, const Instr& instr) {
  const auto cmd = instr.name_of<ReduceCmd>(ex::kReduceCmd);
  const Walk& to = context.walk(ex::kDst);
  const int64_t rows = to.rows(), n = to.row_elements();
  WT_ASSIGN_OR_RETURN(std::vector<float> sums,
                      BeginAccumulate(context, cmd, 0, ex::kReduceInit, rows));
  const float* largest = context.Scalars(ex::kMaxValue, rows);
  FloatReader in = context.Floats(ex::kSrc);
  FloatWriter out = context.FloatsOut(ex::kDst);
  for (int64_t p = 0; p < rows; ++p) {
    float* row = out.Row(p);
    ActivationRow(Activation::kExp, in.Row(p), 1, -largest[p], 0, row, n);
    sums[static_cast<size_t>(p)] += ReduceRow(AluOp::kAdd, row, n);
    out.Done(p);
  }
  if (instr.has(ex::kReduceRes)) context.WriteColumn(ex::kReduceRes, sums.data());
  EndAccumulate(context, cmd, sums);
  return {};
}

}  // namespace
}  // namespace activations4

const InstrDef kActivate2 = {
    .name = "activate2",
    .summary =
        "dst = function((data op0 imm0) op1 imm1) in fp32, with relu_param as the slope of prelu; "
        "results can be reduced into the Scalar engine's accumulators by add, maximum, minimum, "
        "abs_max or abs_min.",
    .params = activations4::kActivate2Params,
    .engines = {Engine::kScalar},
    .default_engine = Engine::kScalar,
    .since = Generation::kGen4,
    .check = activations4::CheckActivate2,
    .execute = activations4::ExecuteActivate2,
    .cost = cost::Activate2,
};

const InstrDef kExponential = {
    .name = "exponential",
    .summary =
        "dst = exp(src - max_value) in fp32 on the Vector engine; by reduce_cmd the row sums go to "
        "its accumulators and from there to reduce_res.",
    .params = activations4::kExponentialParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .since = Generation::kGen4,
    .check = activations4::CheckExponential,
    .execute = activations4::ExecuteExponential,
    .cost = cost::Exponential,
};

}  // namespace wt::chip::isa
