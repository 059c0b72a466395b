// tensor_scalar with a reduction along the free dimensions on the Vector engine:
// tensor_scalar_reduce gives the last value, tensor_scalar_cumulative every value on the way.
#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/accumulator.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace scalar_reduce {
namespace {

ReduceCmd CommandOf(const Instr& instr, int param) {
  return instr.name_of<ReduceCmd>(param, ReduceCmd::kResetReduce);
}

// The first operation of either: arithmetic, with the operand that it takes.
Status CheckFirstOp(const Instr& instr, int op_param, int operand, int data) {
  const auto op = instr.name_of<AluOp>(op_param);
  if (!(IsUnary(op) && op != AluOp::kInvert) && !IsBinaryArithmetic(op)) {
    return KernelError(ErrorClass::kArgument, "{} is {}; expected an arithmetic operation",
                       OperandName(instr, op_param), AluOpName(op));
  }
  WT_RETURN_IF_ERROR(CheckColumn(instr, operand, data));
  if (IsUnary(op) && (instr.is_operand(operand) || ArgOf(instr, operand).number() != 0)) {
    return KernelError(ErrorClass::kArgument, "{} is given; {} takes one input: expected None or 0",
                       OperandName(instr, operand), AluOpName(op));
  }
  if (IsUnary(op) || instr.has(operand)) return {};
  return KernelError(ErrorClass::kArgument, "{} is missing; {} takes two inputs",
                     OperandName(instr, operand), AluOpName(op));
}

// tensor_scalar_reduce --------------------------------------------------------------------------

constexpr Param kTensorScalarReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op0", ParamKind::kAluOp},
    {"operand0", ParamKind::kSrcOrFloat, "None", kInSbuf | kInPsum, Types({DType::kF32})},
    {"reduce_op", ParamKind::kAluOp},
    {"reduce_res", ParamKind::kDst, "None", kInSbuf | kInPsum, kFloatTypes},
    {"reverse0", ParamKind::kBool, "False"},
    {"reduce_cmd", ParamKind::kReduceCmd, "reset_reduce"},
    {"reduce_init", ParamKind::kSrcOrFloat, "None", kInSbuf | kInPsum, Types({DType::kF32})},
    {"reduce_res_negate", ParamKind::kBool, "False"},
    kNameParam,
};

Status CheckTensorScalarReduce(const Machine&, const Instr& instr) {
  using namespace tensor_scalar_reduce;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kData, kDst));
  WT_RETURN_IF_ERROR(CheckFirstOp(instr, kOp0, kOperand0, kData));
  WT_RETURN_IF_ERROR(
      CheckOp(instr, kReduceOp, {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum, AluOp::kMinimum}));
  WT_RETURN_IF_ERROR(CheckReduceCmd(
      instr, kReduceCmd, {ReduceCmd::kResetReduce, ReduceCmd::kReduce, ReduceCmd::kLoadReduce}));
  if (instr.flag(kReverse0)) {
    return KernelError(ErrorClass::kArgument,
                       "tensor_scalar_reduce: reverse0 is documented and not supported by the "
                       "tool chain; expected False: swap the operands yourself");
  }
  return CheckAccumulate(instr, CommandOf(instr, kReduceCmd), kReduceRes, kReduceInit, kData);
}

Status ExecuteTensorScalarReduce(ExecuteContext& context, const Instr& instr) {
  using namespace tensor_scalar_reduce;  // NOLINT
  const auto op0 = instr.name_of<AluOp>(kOp0), reduce_op = instr.name_of<AluOp>(kReduceOp);
  const ReduceCmd command = CommandOf(instr, kReduceCmd);
  const Walk& to = context.walk(kDst);
  const float* operand = context.Scalars(kOperand0, to.rows());
  WT_ASSIGN_OR_RETURN(
      std::vector<float> results,
      BeginAccumulate(context, command, Identity(reduce_op), kReduceInit, to.rows()));
  FloatReader in = context.Floats(kData);
  FloatWriter out = context.FloatsOut(kDst);
  for (int64_t p = 0; p < to.rows(); ++p) {
    float* row = out.Row(p);
    float& result = results[static_cast<size_t>(p)];
    AluScalar(op0, in.Row(p), operand[p], false, row, to.row_elements());
    result = Apply(reduce_op, result, ReduceRow(reduce_op, row, to.row_elements()));
    out.Done(p);
  }
  EndAccumulate(context, command, results);
  if (!instr.has(kReduceRes)) return {};
  if (instr.flag(kReduceResNegate)) {
    for (float& result : results) result = -result;
  }
  context.WriteFloats(kReduceRes, results);
  return {};
}

// tensor_scalar_cumulative ----------------------------------------------------------------------

constexpr DTypeSet kCumulativeTypes =
    kComputeTypes & ~Types({DType::kI32, DType::kU32, DType::kBool, DType::kTF32});

constexpr Param kTensorScalarCumulativeParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kCumulativeTypes},
    {"src", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kCumulativeTypes},
    {"op0", ParamKind::kAluOp},
    {"op1", ParamKind::kAluOp},
    {"imm0", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, Types({DType::kF32})},
    {"imm1", ParamKind::kSrcOrFloat, "None", kInSbuf | kInPsum, Types({DType::kF32})},
    {"reduce_cmd", ParamKind::kReduceCmd, "reset_reduce"},
    kNameParam,
};

Status CheckTensorScalarCumulative(const Machine&, const Instr& instr) {
  using namespace tensor_scalar_cumulative;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kSrc, kDst));
  WT_RETURN_IF_ERROR(CheckFirstOp(instr, kOp0, kImm0, kSrc));
  WT_RETURN_IF_ERROR(
      CheckOp(instr, kOp1,
              {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum, AluOp::kMinimum}));
  WT_RETURN_IF_ERROR(CheckReduceCmd(
      instr, kReduceCmd, {ReduceCmd::kResetReduce, ReduceCmd::kReduce, ReduceCmd::kLoadReduce}));
  return CheckAccumulate(instr, CommandOf(instr, kReduceCmd), -1, kImm1, kSrc);
}

template <class Op>
float RunRow(float value, float* row, int64_t n, Op op) {
  for (int64_t i = 0; i < n; ++i) row[i] = value = op(row[i], value);
  return value;
}

// row[i] = row[i] op what came before; returns the last.
float Run(AluOp op, float value, float* row, int64_t n) {
  switch (op) {
    case AluOp::kAdd:
      return RunRow(value, row, n, [](float a, float b) { return a + b; });
    case AluOp::kSubtract:
      return RunRow(value, row, n, [](float a, float b) { return a - b; });
    case AluOp::kMultiply:
      return RunRow(value, row, n, [](float a, float b) { return a * b; });
    default:
      return RunRow(value, row, n, [op](float a, float b) { return Apply(op, a, b); });
  }
}

Status ExecuteTensorScalarCumulative(ExecuteContext& context, const Instr& instr) {
  using namespace tensor_scalar_cumulative;  // NOLINT
  const auto op0 = instr.name_of<AluOp>(kOp0), op1 = instr.name_of<AluOp>(kOp1);
  const ReduceCmd command = CommandOf(instr, kReduceCmd);
  const Walk& to = context.walk(kDst);
  const float* imm0 = context.Scalars(kImm0, to.rows());
  WT_ASSIGN_OR_RETURN(std::vector<float> running,
                      BeginAccumulate(context, command, Identity(op1), kImm1, to.rows()));
  FloatReader in = context.Floats(kSrc);
  FloatWriter out = context.FloatsOut(kDst);
  for (int64_t p = 0; p < to.rows(); ++p) {
    float* row = out.Row(p);
    float& value = running[static_cast<size_t>(p)];
    AluScalar(op0, in.Row(p), imm0[p], false, row, to.row_elements());
    value = Run(op1, value, row, to.row_elements());
    out.Done(p);
  }
  EndAccumulate(context, command, running);
  return {};
}

}  // namespace
}  // namespace scalar_reduce

const InstrDef kTensorScalarReduce = {
    .name = "tensor_scalar_reduce",
    .summary =
        "dst = data op0 operand0 in fp32, and reduce_op (add, multiply, maximum, minimum) "
        "over all of each partition's results on top of the Vector accumulators, which "
        "reduce_cmd resets, keeps or loads. reduce_res takes what they hold at the end.",
    .params = scalar_reduce::kTensorScalarReduceParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = scalar_reduce::CheckTensorScalarReduce,
    .execute = scalar_reduce::ExecuteTensorScalarReduce,
    .cost = cost::TensorScalarReduce,
};

const InstrDef kTensorScalarCumulative = {
    .name = "tensor_scalar_cumulative",
    .summary =
        "Running values along each partition: acc = (src op0 imm0) op1 acc, written for "
        "every element. reduce_cmd says where acc starts: the identity of op1, imm1, or "
        "the Vector accumulators, which keep the last value.",
    .params = scalar_reduce::kTensorScalarCumulativeParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = scalar_reduce::CheckTensorScalarCumulative,
    .execute = scalar_reduce::ExecuteTensorScalarCumulative,
    .cost = cost::TensorScalarCumulative,
};

}  // namespace wt::chip::isa
