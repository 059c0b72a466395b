// GpSimd's searches along a sequence: sequence_bounds, nonzero_with_count and topk.
#include <algorithm>
#include <numeric>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/part.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace sequences {
namespace {

constexpr int64_t kCorePartitions = 16;  // of one GpSimd core

// sequence_bounds -------------------------------------------------------------------------------

constexpr Param kSequenceBoundsParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, Types({DType::kF32, DType::kI32})},
    {"segment_ids", ParamKind::kSrc, nullptr, kInSbuf, Types({DType::kF32, DType::kI32})},
    kNameParam,
};

Status CheckSequenceBounds(const Machine&, const Instr& instr) {
  using namespace sequence_bounds;  // NOLINT
  WT_RETURN_IF_ERROR(CheckPartitions(instr, kSegmentIds, 1));
  WT_RETURN_IF_ERROR(CheckPartitions(instr, kDst, 1));
  return CheckFreeElements(instr, kDst, 2 * instr.operand(kSegmentIds).free_elements(),
                           "a start and an end for each segment id");
}

Status ExecuteSequenceBounds(ExecuteContext& context, const Instr&) {
  using namespace sequence_bounds;  // NOLINT
  // Ids are whole numbers from zero on: equal ones have equal bits, whatever the dtype.
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> ids, context.ReadBits(kSegmentIds));
  const size_t n = ids.size();
  std::vector<float> bounds(2 * n);  // [start or end, element]
  for (size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && ids[end] == ids[begin]) ++end;
    const bool padding = ids[begin] == 0;
    for (size_t i = begin; i < end; ++i) {
      bounds[i] = static_cast<float>(padding ? n : begin);
      bounds[n + i] = padding ? -1 : static_cast<float>(end);
    }
  }
  context.WriteFloats(kDst, bounds);
  return {};
}

// nonzero_with_count ----------------------------------------------------------------------------

constexpr Param kNonzeroWithCountParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, Types({DType::kI32})},
    {.name = "src",
     .kind = ParamKind::kSrc,
     .memories = kInSbuf,
     .dtypes = Types({DType::kF32, DType::kI32}),
     .partial = true},
    {"index_offset", ParamKind::kInt, "0"},
    {"padding_val", ParamKind::kInt, "-1"},
    kNameParam,
};

Status CheckNonzeroWithCount(const Machine&, const Instr& instr) {
  using namespace nonzero_with_count;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kSrc, kDst}));
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, kDst, instr.operand(kSrc).free_elements() + 1,
                                       "an index for each element of src, and the count"));
  WT_RETURN_IF_ERROR(CheckIntRange(instr, kIndexOffset, INT32_MIN, INT32_MAX));
  return CheckIntRange(instr, kPaddingVal, INT32_MIN, INT32_MAX);
}

// Partitions in between keep what they have; where that is nothing at all they count as padding
// from here on, so that the tile can be copied as a whole, which is how it leaves the chip.
void DefineOthers(ExecuteContext& context, const Instr& instr) {
  using namespace nonzero_with_count;  // NOLINT
  const AccessPattern& dst = instr.operand(kDst);
  const std::vector<int64_t> padding(static_cast<size_t>(dst.free_elements()),
                                     IntOf(instr, kPaddingVal, -1));
  for (int64_t p = 0; p < dst.partitions(); ++p) {
    if (p % kCorePartitions != 0 && !ReadBits(context, kDst, {.partition = p}).ok()) {
      WriteInts(context, kDst, {.partition = p}, padding);
    }
  }
}

Status ExecuteNonzeroWithCount(ExecuteContext& context, const Instr& instr) {
  using namespace nonzero_with_count;  // NOLINT
  const AccessPattern& src = instr.operand(kSrc);
  std::vector<std::vector<int64_t>> rows;
  for (int64_t p = 0; p < src.partitions(); p += kCorePartitions) {
    WT_ASSIGN_OR_RETURN(const std::vector<float> row, ReadFloats(context, kSrc, {.partition = p}));
    std::vector<int64_t> out;
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] != 0) out.push_back(static_cast<int64_t>(i) + IntOf(instr, kIndexOffset));
    }
    const auto count = static_cast<int64_t>(out.size());
    out.resize(row.size(), IntOf(instr, kPaddingVal, -1));
    out.push_back(count);
    rows.push_back(std::move(out));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    WriteInts(context, kDst, {.partition = static_cast<int64_t>(r) * kCorePartitions}, rows[r]);
  }
  DefineOthers(context, instr);
  return {};
}

// topk ------------------------------------------------------------------------------------------

constexpr Param kTopkParams[] = {
    {"val_dst", ParamKind::kDst, nullptr, kInSbuf, Types({DType::kBF16})},
    {"idx_dst", ParamKind::kDst, nullptr, kInSbuf, Types({DType::kU32})},
    {.name = "src",
     .kind = ParamKind::kSrc,
     .memories = kInSbuf,
     .dtypes = Types({DType::kBF16}),
     .partial = true},
    {"n", ParamKind::kInt},
    kNameParam,
};

Status CheckTopk(const Machine&, const Instr& instr) {
  using namespace topk;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kSrc, kValDst, kIdxDst}));
  WT_RETURN_IF_ERROR(CheckPartitionMultiple(instr, kSrc, kCorePartitions));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kValDst, kIdxDst));
  for (int param : {kSrc, kValDst, kIdxDst}) {
    WT_RETURN_IF_ERROR(CheckFreeDims(instr, param, 1));
  }
  WT_RETURN_IF_ERROR(CheckIntRange(instr, kN, 8, 65535));
  const int64_t n = IntOf(instr, kN);
  const int64_t k = instr.operand(kValDst).free_elements();
  if (k > n || k >= 32768) {
    return KernelError(ErrorClass::kShape,
                       "topk: val_dst asks for {} values of {}; expected at most n and under 32768",
                       k, n);
  }
  const int64_t columns = (n + kCorePartitions - 1) / kCorePartitions;
  return CheckFreeRange(instr, kSrc, columns, INT32_MAX);
}

// Element i of a group is in its partition i % 16, column i / 16.
Result<std::vector<float>> ReadSnake(ExecuteContext& context, int64_t group, int64_t n) {
  std::vector<float> snake(static_cast<size_t>(n));
  for (int64_t p = 0; p < std::min(n, kCorePartitions); ++p) {
    const int64_t columns = (n - p + kCorePartitions - 1) / kCorePartitions;
    WT_ASSIGN_OR_RETURN(const std::vector<float> row,
                        ReadFloats(context, topk::kSrc, {group * kCorePartitions + p, columns}));
    for (int64_t c = 0; c < columns; ++c)
      snake[static_cast<size_t>(c * kCorePartitions + p)] = row[static_cast<size_t>(c)];
  }
  return snake;
}

// Positions of the k largest, in ascending order of value; of equal values the later ones.
std::vector<uint32_t> Largest(const std::vector<float>& snake, int64_t k) {
  std::vector<uint32_t> order(snake.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return snake[a] < snake[b]; });
  return {order.end() - k, order.end()};
}

// Result j goes to partition j % 16, column j / 16.
void WriteSnake(ExecuteContext& context, int64_t group, const std::vector<float>& snake,
                const std::vector<uint32_t>& best) {
  const auto k = static_cast<int64_t>(best.size());
  for (int64_t p = 0; p < std::min(k, kCorePartitions); ++p) {
    std::vector<float> values;
    std::vector<uint32_t> indices;
    for (int64_t j = p; j < k; j += kCorePartitions) {
      indices.push_back(best[static_cast<size_t>(j)]);
      values.push_back(snake[indices.back()]);
    }
    const Part part = {group * kCorePartitions + p, static_cast<int64_t>(values.size())};
    WriteFloats(context, topk::kValDst, part, values);
    WriteBits(context, topk::kIdxDst, part, indices);
  }
}

Status ExecuteTopk(ExecuteContext& context, const Instr& instr) {
  const int64_t k = instr.operand(topk::kValDst).free_elements();
  const int64_t groups = instr.operand(topk::kSrc).partitions() / kCorePartitions;
  std::vector<std::vector<float>> snakes;
  for (int64_t group = 0; group < groups; ++group) {
    WT_ASSIGN_OR_RETURN(std::vector<float> snake,
                        ReadSnake(context, group, IntOf(instr, topk::kN)));
    snakes.push_back(std::move(snake));
  }
  for (int64_t group = 0; group < groups; ++group) {
    const std::vector<float>& snake = snakes[static_cast<size_t>(group)];
    WriteSnake(context, group, snake, Largest(snake, k));
  }
  return {};
}

}  // namespace
}  // namespace sequences

const InstrDef kSequenceBounds = {
    .name = "sequence_bounds",
    .summary =
        "For each element of a row of segment ids, where its run of equal ids begins and "
        "where it ends (one past the last): dst is [1, 2, n]. Elements with id 0 are "
        "padding and get n and -1.",
    .params = sequences::kSequenceBoundsParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = sequences::CheckSequenceBounds,
    .execute = sequences::ExecuteSequenceBounds,
    .cost = cost::SequenceBounds,
};

const InstrDef kNonzeroWithCount = {
    .name = "nonzero_with_count",
    .summary =
        "The indices of the nonzero elements plus index_offset, then padding_val up to the "
        "length of src, then how many there were. Only partitions 0, 16, 32, … are read "
        "and written, one for each GpSimd core; of the others, those that nothing has written "
        "count as padding (our choice, so that the tile can be copied).",
    .params = sequences::kNonzeroWithCountParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .since = Generation::kGen3,
    .check = sequences::CheckNonzeroWithCount,
    .execute = sequences::ExecuteNonzeroWithCount,
    .cost = cost::NonzeroWithCount,
};

const InstrDef kTopk = {
    .name = "topk",
    .summary =
        "In every group of 16 partitions, the k largest of n elements laid out as element i "
        "in partition i % 16, column i / 16, and their indices, in ascending order in the "
        "same layout; k is the width of val_dst, of which the rest stays unwritten. Of "
        "equal values the later ones are taken (our choice: not published).",
    .params = sequences::kTopkParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .since = Generation::kGen3,
    .check = sequences::CheckTopk,
    .execute = sequences::ExecuteTopk,
    .cost = cost::Topk,
};

}  // namespace wt::chip::isa
