// tensor_scalar with a reduction along the free dimensions on the Vector engine:
// tensor_scalar_reduce gives the last value, tensor_scalar_cumulative every value on the way.
#include <limits>

#include "chip/alu.h"
#include "chip/execute.h"
#include "chip/isa/accumulator.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What a reduction starts from.
float Identity(AluOp op) {
  switch (op) {
    case AluOp::kMultiply: return 1;
    case AluOp::kMaximum: return -kInfinity;
    case AluOp::kMinimum: return kInfinity;
    default: return 0;
  }
}

// tensor_scalar_reduce --------------------------------------------------------------------------

constexpr Param kTensorScalarReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
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

ReduceCmd CommandOf(const Instr& instr, int param) {
  return EnumOf(instr, param, ReduceCmd::kResetReduce);
}

Status CheckTensorScalarReduce(const Machine&, const Instr& instr) {
  using namespace tensor_scalar_reduce;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kData, kDst));
  WT_RETURN_IF_ERROR(CheckColumn(instr, kOperand0, kData));
  WT_RETURN_IF_ERROR(CheckOp(
      instr, kReduceOp, {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum, AluOp::kMinimum}));
  WT_RETURN_IF_ERROR(
      CheckReduceCmd(instr, kReduceCmd,
                     {ReduceCmd::kResetReduce, ReduceCmd::kReduce, ReduceCmd::kLoadReduce}));
  if (BoolOf(instr, kReverse0)) {
    return KernelError(ErrorClass::kArgument,
                       "tensor_scalar_reduce: reverse0 is documented and not supported by the "
                       "tool chain; expected False: swap the operands yourself");
  }
  return CheckAccumulate(instr, CommandOf(instr, kReduceCmd), kReduceRes, kReduceInit, kData);
}

template <class Reduce>
float ReduceRow(std::span<const float> row, float start, Reduce reduce) {
  // Eight lanes: the order of a sum is not published, and this one is quick.
  constexpr size_t kLanes = 8;
  if (row.size() < 2 * kLanes) {
    for (float value : row) start = reduce(start, value);
    return start;
  }
  float lanes[kLanes];
  std::copy_n(row.begin(), kLanes, lanes);
  size_t i = kLanes;
  for (; i + kLanes <= row.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = reduce(lanes[k], row[i + k]);
  }
  for (float lane : lanes) start = reduce(start, lane);
  for (; i < row.size(); ++i) start = reduce(start, row[i]);
  return start;
}

float Reduce(AluOp op, std::span<const float> row, float start) {
  switch (op) {
    case AluOp::kAdd: return ReduceRow(row, start, [](float a, float b) { return a + b; });
    case AluOp::kMultiply: return ReduceRow(row, start, [](float a, float b) { return a * b; });
    case AluOp::kMaximum:
      return ReduceRow(row, start, [](float a, float b) { return a > b ? a : b; });
    default: return ReduceRow(row, start, [](float a, float b) { return a < b ? a : b; });
  }
}

Status ExecuteTensorScalarReduce(ExecuteContext& context, const Instr& instr) {
  using namespace tensor_scalar_reduce;  // NOLINT
  const int64_t partitions = instr.operand(kData).partitions();
  const auto reduce_op = EnumOf(instr, kReduceOp, AluOp::kAdd);
  const ReduceCmd command = CommandOf(instr, kReduceCmd);
  WT_ASSIGN_OR_RETURN(std::vector<float> values, context.ReadFloats(kData));
  WT_ASSIGN_OR_RETURN(const std::vector<float> operand, context.ReadScalars(kOperand0, partitions));
  WT_ASSIGN_OR_RETURN(
      std::vector<float> sums,
      BeginAccumulate(context, command, Identity(reduce_op), kReduceInit, partitions));
  const size_t width = values.size() / sums.size();
  for (size_t p = 0; p < sums.size(); ++p) {
    const std::span<float> row = std::span(values).subspan(p * width, width);
    ApplyAlu(EnumOf(instr, kOp0, AluOp::kBypass), row, operand[p]);
    sums[p] = Reduce(reduce_op, row, sums[p]);
  }
  EndAccumulate(context, command, sums);
  context.WriteFloats(kDst, values);
  if (!instr.has(kReduceRes)) return {};
  if (BoolOf(instr, kReduceResNegate)) {
    for (float& sum : sums) sum = -sum;
  }
  context.WriteFloats(kReduceRes, sums);
  return {};
}

// tensor_scalar_cumulative ----------------------------------------------------------------------

constexpr DTypeSet kCumulativeTypes =
    kNumberTypes & ~Types({DType::kI32, DType::kU32, DType::kBool, DType::kTF32});

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
  WT_RETURN_IF_ERROR(CheckColumn(instr, kImm0, kSrc));
  WT_RETURN_IF_ERROR(CheckOp(instr, kOp1,
                             {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum,
                              AluOp::kMinimum}));
  WT_RETURN_IF_ERROR(
      CheckReduceCmd(instr, kReduceCmd,
                     {ReduceCmd::kResetReduce, ReduceCmd::kReduce, ReduceCmd::kLoadReduce}));
  return CheckAccumulate(instr, CommandOf(instr, kReduceCmd), -1, kImm1, kSrc);
}

Status ExecuteTensorScalarCumulative(ExecuteContext& context, const Instr& instr) {
  using namespace tensor_scalar_cumulative;  // NOLINT
  const int64_t partitions = instr.operand(kSrc).partitions();
  const auto op1 = EnumOf(instr, kOp1, AluOp::kAdd);
  const ReduceCmd command = CommandOf(instr, kReduceCmd);
  WT_ASSIGN_OR_RETURN(std::vector<float> values, context.ReadFloats(kSrc));
  WT_ASSIGN_OR_RETURN(const std::vector<float> imm0, context.ReadScalars(kImm0, partitions));
  WT_ASSIGN_OR_RETURN(std::vector<float> running,
                      BeginAccumulate(context, command, Identity(op1), kImm1, partitions));
  const size_t width = values.size() / running.size();
  for (size_t p = 0; p < running.size(); ++p) {
    const std::span<float> row = std::span(values).subspan(p * width, width);
    ApplyAlu(EnumOf(instr, kOp0, AluOp::kBypass), row, imm0[p]);
    for (float& value : row) {
      running[p] = Alu(op1, value, running[p]);
      value = running[p];
    }
  }
  EndAccumulate(context, command, running);
  context.WriteFloats(kDst, values);
  return {};
}

}  // namespace

const InstrDef kTensorScalarReduce = {
    .name = "tensor_scalar_reduce",
    .summary = "dst = data op0 operand0 in fp32, and reduce_op (add, multiply, maximum, minimum) "
               "over all of each partition's results on top of the Vector accumulators, which "
               "reduce_cmd resets, keeps or loads. reduce_res takes what they hold at the end.",
    .params = kTensorScalarReduceParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = CheckTensorScalarReduce,
    .execute = ExecuteTensorScalarReduce,
};

const InstrDef kTensorScalarCumulative = {
    .name = "tensor_scalar_cumulative",
    .summary = "Running values along each partition: acc = (src op0 imm0) op1 acc, written for "
               "every element. reduce_cmd says where acc starts: the identity of op1, imm1, or "
               "the Vector accumulators, which keep the last value.",
    .params = kTensorScalarCumulativeParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = CheckTensorScalarCumulative,
    .execute = ExecuteTensorScalarCumulative,
};

}  // namespace wt::chip::isa
