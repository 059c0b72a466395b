// Mean and variance of long rows in two steps: bn_stats of pieces of up to 512 elements, bn_aggr of
// all the pieces' statistics. Both are (count, mean, variance * count) triples.
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace bn {
namespace {

constexpr size_t kTriple = 3;

constexpr Param kBnStatsParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kFloatTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    kNameParam,
};

Status CheckBnStats(const Machine& machine, const Instr& instr) {
  using namespace bn_stats;  // NOLINT
  WT_RETURN_IF_ERROR(CheckNotEmpty(instr, kData));
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kData, kDst}));
  WT_RETURN_IF_ERROR(CheckFreeRange(
      instr, kData, 1, static_cast<int64_t>(machine.constant(ConstantId::kBnStatsMax))));
  return CheckFreeElements(instr, kDst, 2 * kTriple,
                           "count, mean and variance * count of the even and the odd elements");
}

// Of every second element from `first` on.
void Statistics(std::span<const float> row, size_t first, float* triple) {
  double sum = 0, squares = 0;
  int64_t count = 0;
  for (size_t i = first; i < row.size(); i += 2, ++count) sum += row[i];
  const double mean = count ? sum / static_cast<double>(count) : 0;
  for (size_t i = first; i < row.size(); i += 2) squares += (row[i] - mean) * (row[i] - mean);
  triple[0] = static_cast<float>(count);
  triple[1] = static_cast<float>(mean);
  triple[2] = static_cast<float>(squares);
}

Status ExecuteBnStats(ExecuteContext& context, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const std::vector<float> data, context.ReadFloats(bn_stats::kData));
  const auto partitions = static_cast<size_t>(instr.operand(bn_stats::kData).partitions());
  const size_t width = data.size() / partitions;
  std::vector<float> stats(partitions * 2 * kTriple);
  for (size_t p = 0; p < partitions; ++p) {
    const std::span<const float> row = std::span(data).subspan(p * width, width);
    Statistics(row, 0, &stats[p * 2 * kTriple]);
    Statistics(row, 1, &stats[p * 2 * kTriple + kTriple]);
  }
  context.WriteFloats(bn_stats::kDst, stats);
  return {};
}

constexpr Param kBnAggrParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kFloatTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kFloatTypes},
    kNameParam,
};

Status CheckBnAggr(const Machine&, const Instr& instr) {
  using namespace bn_aggr;  // NOLINT
  WT_RETURN_IF_ERROR(CheckNotEmpty(instr, kData));
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kData, kDst}));
  const int64_t elements = instr.operand(kData).free_elements();
  if (elements % static_cast<int64_t>(kTriple) != 0) {
    return KernelError(ErrorClass::kShape,
                       "{} has {} elements a partition; expected a multiple of 3: triples (count, "
                       "mean, variance * count) as bn_stats writes them",
                       OperandName(instr, kData), elements);
  }
  return CheckFreeElements(instr, kDst, 2, "mean and variance");
}

// (mean, variance) of all the triples together.
void Aggregate(std::span<const float> triples, float* result) {
  double count = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < triples.size(); i += kTriple) {
    count += triples[i];
    sum += static_cast<double>(triples[i]) * triples[i + 1];
  }
  const double mean = sum / count;
  for (size_t i = 0; i < triples.size(); i += kTriple) {
    const double off = triples[i + 1] - mean;
    squares += triples[i + 2] + triples[i] * off * off;
  }
  result[0] = static_cast<float>(mean);
  result[1] = static_cast<float>(squares / count);
}

Status ExecuteBnAggr(ExecuteContext& context, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const std::vector<float> data, context.ReadFloats(bn_aggr::kData));
  const auto partitions = static_cast<size_t>(instr.operand(bn_aggr::kData).partitions());
  const size_t width = data.size() / partitions;
  std::vector<float> result(partitions * 2);
  for (size_t p = 0; p < partitions; ++p) {
    Aggregate(std::span(data).subspan(p * width, width), &result[p * 2]);
  }
  context.WriteFloats(bn_aggr::kDst, result);
  return {};
}

}  // namespace
}  // namespace bn

const InstrDef kBnStats = {
    .name = "bn_stats",
    .summary =
        "Six numbers a partition: count, mean and variance * count of the elements at even "
        "positions, then of those at odd positions, of at most vector.bn_stats_max elements.",
    .params = bn::kBnStatsParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = bn::CheckBnStats,
    .execute = bn::ExecuteBnStats,
    .cost = cost::BnStats,
};

const InstrDef kBnAggr = {
    .name = "bn_aggr",
    .summary =
        "Mean and variance a partition of all the (count, mean, variance * count) triples "
        "in data, as one or more bn_stats wrote them.",
    .params = bn::kBnAggrParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = bn::CheckBnAggr,
    .execute = bn::ExecuteBnAggr,
    .cost = cost::BnAggr,
};

}  // namespace wt::chip::isa
