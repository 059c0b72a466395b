// The Vector engine's search for the eight largest values: max8 finds them, nc_find_index8 says
// where they are, nc_match_replace8 takes them out so that the next eight can be found.
#include <algorithm>
#include <limits>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace top8 {
namespace {

constexpr int64_t kLeastElements = 8, kMostElements = 16384;
constexpr size_t kEight = 8;
constexpr uint32_t kMissing = ~0u;
constexpr size_t kBlock = 32;  // elements that one comparison passes over

// max8 ------------------------------------------------------------------------------------------

constexpr Param kMax8Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"src", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
    kNameParam,
};

Status CheckMax8(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {max8::kSrc, max8::kDst}));
  WT_RETURN_IF_ERROR(CheckFreeDims(instr, max8::kSrc, 2));
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, max8::kSrc, kLeastElements, kMostElements));
  return CheckFreeElements(instr, max8::kDst, kEight, "the eight largest values");
}

// Puts `value`, which is larger than the last of `top`, where it belongs in descending order.
void Insert(float value, float* top) {
  size_t i = kEight - 1;
  for (; i > 0 && !(top[i - 1] >= value); --i) top[i] = top[i - 1];
  top[i] = value;
}

// NaN compares false, so a NaN is never taken; what is left of fewer than eight numbers is -inf.
void Top8(std::span<const float> row, float* top) {
  std::fill_n(top, kEight, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kBlock <= row.size(); i += kBlock) {
    int any = 0;  // most blocks of a long row hold nothing that counts
    for (size_t k = 0; k < kBlock; ++k) any |= row[i + k] > top[kEight - 1];
    if (!any) continue;
    for (size_t k = 0; k < kBlock; ++k) {
      if (row[i + k] > top[kEight - 1]) Insert(row[i + k], top);
    }
  }
  for (; i < row.size(); ++i) {
    if (row[i] > top[kEight - 1]) Insert(row[i], top);
  }
}

Status ExecuteMax8(ExecuteContext& context, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const std::vector<float> src, context.ReadFloats(max8::kSrc));
  const auto partitions = static_cast<size_t>(instr.operand(max8::kSrc).partitions());
  const size_t width = src.size() / partitions;
  std::vector<float> top(partitions * kEight);
  for (size_t p = 0; p < partitions; ++p) {
    Top8(std::span(src).subspan(p * width, width), &top[p * kEight]);
  }
  context.WriteFloats(max8::kDst, top);
  return {};
}

// nc_find_index8 --------------------------------------------------------------------------------

constexpr Param kNcFindIndex8Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, Types({DType::kU16, DType::kU32})},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"vals", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
    kNameParam,
};

Status CheckNcFindIndex8(const Machine&, const Instr& instr) {
  using namespace nc_find_index8;  // NOLINT: the enum of this instruction alone
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kData, kVals, kDst}));
  WT_RETURN_IF_ERROR(CheckFreeDims(instr, kData, 2));
  WT_RETURN_IF_ERROR(CheckFreeDims(instr, kVals, 2));
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, kData, kLeastElements, kMostElements));
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, kVals, kEight, "the values to look for"));
  return CheckFreeElements(instr, kDst, kEight, "one index a value");
}

// First element from `from` on that equals `value`; the size of data when there is none.
size_t FindFrom(std::span<const float> data, size_t from, float value) {
  for (; from + kBlock <= data.size(); from += kBlock) {
    int any = 0;
    for (size_t k = 0; k < kBlock; ++k) any |= data[from + k] == value;
    if (any) break;
  }
  while (from < data.size() && data[from] != value) ++from;
  return from;
}

// The n-th slot of equal values gets the n-th match.
void FindIndices(std::span<const float> data, const float* vals, int64_t* found) {
  for (size_t j = 0; j < kEight; ++j) {
    size_t from = 0;
    for (size_t i = 0; i < j; ++i) {
      if (vals[i] == vals[j])
        from = found[i] == kMissing ? data.size() : static_cast<size_t>(found[i]) + 1;
    }
    const size_t at = FindFrom(data, from, vals[j]);
    found[j] = at < data.size() ? static_cast<int64_t>(at) : int64_t{kMissing};
  }
}

Status ExecuteNcFindIndex8(ExecuteContext& context, const Instr& instr) {
  using namespace nc_find_index8;  // NOLINT
  WT_ASSIGN_OR_RETURN(const std::vector<float> data, context.ReadFloats(kData));
  WT_ASSIGN_OR_RETURN(const std::vector<float> vals, context.ReadFloats(kVals));
  const auto partitions = static_cast<size_t>(instr.operand(kData).partitions());
  const size_t width = data.size() / partitions;
  std::vector<int64_t> found(partitions * kEight);
  for (size_t p = 0; p < partitions; ++p) {
    FindIndices(std::span(data).subspan(p * width, width), &vals[p * kEight], &found[p * kEight]);
  }
  context.WriteInts(kDst, found);
  return {};
}

// nc_match_replace8 -----------------------------------------------------------------------------

constexpr Param kNcMatchReplace8Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"vals", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kNumberTypes},
    {"imm", ParamKind::kFloat},
    {"dst_idx", ParamKind::kDst, "None", kInSbuf | kInPsum,
     Types({DType::kU16, DType::kU32, DType::kI32})},
    kNameParam,
};

Status CheckNcMatchReplace8(const Machine&, const Instr& instr) {
  using namespace nc_match_replace8;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kData, kDst));
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kData, kVals, kDstIdx}));
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, kData, kLeastElements, kMostElements));
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, kVals, kEight, "the values to replace"));
  if (!instr.has(kDstIdx)) return {};
  return CheckFreeElements(instr, kDstIdx, kEight, "one index a value");
}

// Slots 7, 6, … take the first match that no slot before them has taken: what the data streaming by
// once gives, when an element goes to the highest slot that waits for its value.
void MatchReplace(std::span<float> data, const float* vals, float imm, int64_t* found) {
  for (size_t j = kEight; j-- > 0;) {
    size_t from = 0;
    for (size_t i = j + 1; i < kEight; ++i) {
      if (vals[i] == vals[j])
        from =
            std::max(from, found[i] == kMissing ? data.size() : static_cast<size_t>(found[i]) + 1);
    }
    const size_t at = FindFrom(data, from, vals[j]);
    found[j] = at < data.size() ? static_cast<int64_t>(at) : int64_t{kMissing};
  }
  for (size_t j = 0; j < kEight; ++j) {
    if (found[j] != kMissing) data[static_cast<size_t>(found[j])] = imm;
  }
}

Status ExecuteNcMatchReplace8(ExecuteContext& context, const Instr& instr) {
  using namespace nc_match_replace8;  // NOLINT
  WT_ASSIGN_OR_RETURN(std::vector<float> data, context.ReadFloats(kData));
  WT_ASSIGN_OR_RETURN(const std::vector<float> vals, context.ReadFloats(kVals));
  const auto partitions = static_cast<size_t>(instr.operand(kData).partitions());
  const size_t width = data.size() / partitions;
  const auto imm = static_cast<float>(ArgOf(instr, kImm).number());
  std::vector<int64_t> found(partitions * kEight);
  for (size_t p = 0; p < partitions; ++p) {
    MatchReplace(std::span(data).subspan(p * width, width), &vals[p * kEight], imm,
                 &found[p * kEight]);
  }
  context.WriteFloats(kDst, data);
  if (instr.has(kDstIdx)) context.WriteInts(kDstIdx, found);
  return {};
}

}  // namespace
}  // namespace top8

const InstrDef kMax8 = {
    .name = "max8",
    .summary =
        "Finds the eight largest elements of each partition, compared as fp32, and writes "
        "them in descending order. Equal elements count one by one; NaN is passed over "
        "(hardware does not say).",
    .params = top8::kMax8Params,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = top8::CheckMax8,
    .execute = top8::ExecuteMax8,
    .cost = cost::Max8,
};

const InstrDef kNcFindIndex8 = {
    .name = "nc_find_index8",
    .summary =
        "For each of eight values a partition, the index of its first occurrence in data "
        "(free dimensions flattened, compared as fp32). Slots that ask for the same value "
        "get successive occurrences in ascending order; a value that is not there gives all "
        "ones.",
    .params = top8::kNcFindIndex8Params,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = top8::CheckNcFindIndex8,
    .execute = top8::ExecuteNcFindIndex8,
    .cost = cost::NcFindIndex8,
};

const InstrDef kNcMatchReplace8 = {
    .name = "nc_match_replace8",
    .summary =
        "Copies data with the first occurrence of each of eight values a partition replaced "
        "by imm, and writes to dst_idx where they were. Among slots with equal values the "
        "earliest occurrence goes to the highest slot, the opposite of nc_find_index8; a "
        "value that is not there gives the index all ones (our choice: not published).",
    .params = top8::kNcMatchReplace8Params,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = top8::CheckNcMatchReplace8,
    .execute = top8::ExecuteNcMatchReplace8,
    .cost = cost::NcMatchReplace8,
};

}  // namespace wt::chip::isa
