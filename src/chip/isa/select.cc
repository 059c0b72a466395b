// Selections of the Vector engine with a row maximum on the side: range_select by position,
// select_reduce by a predicate tile.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/accumulator.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace selects {
namespace {

constexpr float kFp32Min = -std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The maximum of a row on top of what its accumulator holds.
void AddMaximum(const float* row, int64_t n, float* most) {
  *most = Apply(AluOp::kMaximum, *most, ReduceRow(AluOp::kMaximum, row, n));
}

void Finish(ExecuteContext& context, ReduceCmd command, const std::vector<float>& maxima,
            int result) {
  EndAccumulate(context, command, maxima);
  if (context.instr().has(result)) context.WriteFloats(result, maxima);
}

// range_select ----------------------------------------------------------------------------------

constexpr Param kRangeSelectParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kFloatTypes},
    {"on_true_tile", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kFloatTypes},
    {"comp_op0", ParamKind::kAluOp},
    {"comp_op1", ParamKind::kAluOp},
    {"bound0", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, Types({DType::kF32})},
    {"bound1", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, Types({DType::kF32})},
    {"reduce_cmd", ParamKind::kReduceCmd, "reset_reduce"},
    {"reduce_res", ParamKind::kDst, "None", kInSbuf | kInPsum, kFloatTypes},
    {"reduce_op", ParamKind::kAluOp, "maximum"},
    {"range_start", ParamKind::kInt, "0"},
    {"on_false_value", ParamKind::kFloat, "-3.4028234663852886e+38"},
    kNameParam,
};

Status CheckRangeSelect(const Machine&, const Instr& instr) {
  using namespace range_select;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kOnTrueTile, kDst));
  WT_RETURN_IF_ERROR(CheckColumn(instr, kBound0, kOnTrueTile));
  WT_RETURN_IF_ERROR(CheckColumn(instr, kBound1, kOnTrueTile));
  for (int param : {kCompOp0, kCompOp1}) {
    WT_RETURN_IF_ERROR(CheckOp(
        instr, param,
        {AluOp::kEqual, AluOp::kLess, AluOp::kLessEqual, AluOp::kGreater, AluOp::kGreaterEqual}));
  }
  WT_RETURN_IF_ERROR(CheckOp(instr, kReduceOp, {AluOp::kMaximum}));
  WT_RETURN_IF_ERROR(CheckReduceCmd(
      instr, kReduceCmd, {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce}));
  const Arg& on_false = ArgOf(instr, kOnFalseValue);
  if (on_false.given() && static_cast<float>(on_false.number()) != kFp32Min) {
    return KernelError(ErrorClass::kArgument,
                       "range_select: on_false_value is {}; expected the least fp32 number, "
                       "-3.4028235e+38, the only one hardware writes",
                       on_false.number());
  }
  constexpr int64_t kExact = int64_t{1} << 24;
  const int64_t start = IntOf(instr, kRangeStart);
  if (start < -kExact || start + instr.operand(kOnTrueTile).free_elements() > kExact) {
    return KernelError(ErrorClass::kArgument,
                       "range_select: positions from {} on leave +-2^24, where fp32 compares "
                       "exactly; shift range_start and the bounds",
                       start);
  }
  return CheckAccumulate(instr, instr.name_of<ReduceCmd>(kReduceCmd, ReduceCmd::kResetReduce),
                         kReduceRes, -1, kOnTrueTile);
}

// Elements [begin, end) of a row.
struct Interval {
  int64_t begin, end;
};

// Those whose position start + i satisfies `position op bound`. Positions are whole numbers that
// fp32 holds, so the comparison in fp32 is one of integers with the bound rounded. NaN: none.
Interval Satisfying(AluOp op, float bound, int64_t start, int64_t width) {
  const double n = static_cast<double>(width);
  const auto index = [&](double position) {  // first element at or after it
    return static_cast<int64_t>(std::clamp(position - static_cast<double>(start), 0.0, n));
  };
  if (std::isnan(bound)) return {0, 0};
  const double up = std::ceil(bound), after = std::floor(bound) + 1;
  switch (op) {
    case AluOp::kEqual:
      return {index(up), index(after)};  // nothing between them when bound is no whole number
    case AluOp::kLess:
      return {0, index(up)};
    case AluOp::kLessEqual:
      return {0, index(after)};
    case AluOp::kGreater:
      return {index(after), width};
    default:
      return {index(up), width};
  }
}

Interval Kept(const Instr& instr, float bound0, float bound1, int64_t width) {
  using namespace range_select;  // NOLINT
  const int64_t start = IntOf(instr, kRangeStart);
  const Interval a = Satisfying(instr.name_of<AluOp>(kCompOp0), bound0, start, width);
  const Interval b = Satisfying(instr.name_of<AluOp>(kCompOp1), bound1, start, width);
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

Status ExecuteRangeSelect(ExecuteContext& context, const Instr& instr) {
  using namespace range_select;  // NOLINT
  const ReduceCmd command = instr.name_of<ReduceCmd>(kReduceCmd, ReduceCmd::kResetReduce);
  const Walk& to = context.walk(kDst);
  const int64_t width = to.row_elements();
  const float* bound0 = context.Scalars(kBound0, to.rows());
  const float* bound1 = context.Scalars(kBound1, to.rows());
  WT_ASSIGN_OR_RETURN(std::vector<float> maxima,
                      BeginAccumulate(context, command, -kInfinity, -1, to.rows()));
  FloatReader in = context.Floats(kOnTrueTile);
  FloatWriter out = context.FloatsOut(kDst);
  for (int64_t p = 0; p < to.rows(); ++p) {
    const Interval kept = Kept(instr, bound0[p], bound1[p], width);
    const float* from = in.Row(p);
    float* row = out.Row(p);
    std::copy(from + kept.begin, from + kept.end, row + kept.begin);
    std::fill(row, row + kept.begin, kFp32Min);
    std::fill(row + kept.end, row + width, kFp32Min);
    AddMaximum(row, width, &maxima[static_cast<size_t>(p)]);
    out.Done(p);
  }
  Finish(context, command, maxima, kReduceRes);
  return {};
}

// select_reduce ---------------------------------------------------------------------------------

constexpr DTypeSet kSelectTypes = kComputeTypes & ~Types({DType::kTF32, DType::kI32, DType::kU32});

constexpr Param kSelectReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"predicate", ParamKind::kSrc, nullptr, kInSbuf | kInPsum,
     Types({DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kBool})},
    {"on_true", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kSelectTypes},
    {"on_false", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, kSelectTypes},
    {"reduce_res", ParamKind::kDst, "None", kInSbuf | kInPsum, kFloatTypes},
    {"reduce_cmd", ParamKind::kReduceCmd, "idle"},
    {"reduce_op", ParamKind::kAluOp, "maximum"},
    {"reverse_pred", ParamKind::kBool, "False"},
    kNameParam,
};

Status CheckSelectReduce(const Machine&, const Instr& instr) {
  using namespace select_reduce;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kOnTrue, kDst));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kOnTrue, kPredicate));
  WT_RETURN_IF_ERROR(CheckColumn(instr, kOnFalse, kOnTrue));
  WT_RETURN_IF_ERROR(CheckNotBothPsum(instr, kOnTrue, kPredicate));
  WT_RETURN_IF_ERROR(CheckOp(instr, kReduceOp, {AluOp::kMaximum}));
  WT_RETURN_IF_ERROR(CheckReduceCmd(
      instr, kReduceCmd, {ReduceCmd::kIdle, ReduceCmd::kReduce, ReduceCmd::kResetReduce}));
  return CheckAccumulate(instr, instr.name_of<ReduceCmd>(kReduceCmd, ReduceCmd::kIdle), kReduceRes,
                         -1, kOnTrue);
}

Status ExecuteSelectReduce(ExecuteContext& context, const Instr& instr) {
  using namespace select_reduce;  // NOLINT
  const ReduceCmd command = instr.name_of<ReduceCmd>(kReduceCmd, ReduceCmd::kIdle);
  const bool wanted = !instr.flag(kReversePred);
  const Walk& to = context.walk(kDst);
  const int64_t width = to.row_elements();
  const float* on_false = context.Scalars(kOnFalse, to.rows());
  WT_ASSIGN_OR_RETURN(std::vector<float> maxima,
                      BeginAccumulate(context, command, -kInfinity, -1, to.rows()));
  FloatReader on_true = context.Floats(kOnTrue), predicate = context.Floats(kPredicate);
  FloatWriter out = context.FloatsOut(kDst);
  for (int64_t p = 0; p < to.rows(); ++p) {
    const float* from = on_true.Row(p);
    const float* truth = predicate.Row(p);
    const float otherwise = on_false[p];
    float* row = out.Row(p);
    for (int64_t i = 0; i < width; ++i) {
      const float value = from[i];
      row[i] = (truth[i] != 0) == wanted ? value : otherwise;
    }
    AddMaximum(row, width, &maxima[static_cast<size_t>(p)]);
    out.Done(p);
  }
  Finish(context, command, maxima, kReduceRes);
  return {};
}

}  // namespace
}  // namespace selects

const InstrDef kRangeSelect = {
    .name = "range_select",
    .summary =
        "Keeps element i of a partition where range_start + i satisfies both comparisons "
        "with that partition's bounds, in fp32, and writes the least fp32 number elsewhere "
        "(-inf once rounded to 16 bits). The maximum of the row, before rounding, goes to "
        "the Vector accumulators and reduce_res.",
    .params = selects::kRangeSelectParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .since = Generation::kGen3,
    .check = selects::CheckRangeSelect,
    .execute = selects::ExecuteRangeSelect,
    .cost = cost::RangeSelect,
};

const InstrDef kSelectReduce = {
    .name = "select_reduce",
    .summary =
        "on_true where the predicate is nonzero (zero with reverse_pred), on_false, a "
        "number or one a partition, elsewhere. With a reduce_cmd the maximum of the row, "
        "before rounding, goes to the Vector accumulators and reduce_res.",
    .params = selects::kSelectReduceParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .since = Generation::kGen3,
    .check = selects::CheckSelectReduce,
    .execute = selects::ExecuteSelectReduce,
    .cost = cost::SelectReduce,
};

}  // namespace wt::chip::isa
