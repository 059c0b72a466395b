// The Vector engine's search for the eight largest values: max8 finds them, nc_find_index8 says
// where they are, nc_match_replace8 takes them out so that the next eight can be found.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
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
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"src", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    kNameParam,
};

Status CheckMax8(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {max8::kSrc, max8::kDst}));
  WT_RETURN_IF_ERROR(CheckFreeDims(instr, max8::kSrc, 2));
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, max8::kSrc, kLeastElements, kMostElements));
  return CheckFreeElements(instr, max8::kDst, kEight, "the eight largest values");
}

// Puts `value` where it belongs in descending order; the least falls out. Without branches, since
// none could be foreseen.
void Insert(float value, float* top) {
  for (size_t i = 0; i < kEight; ++i) {
    const float held = top[i];
    top[i] = value > held ? value : held;
    value = value > held ? held : value;
  }
}

// A value that at least eight elements reach, or -inf: the eighth of the maxima of 16 lanes.
float Threshold(std::span<const float> row) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i + kLanes <= row.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = row[i + k] > lanes[k] ? row[i + k] : lanes[k];
  }
  std::nth_element(lanes, lanes + kEight - 1, lanes + kLanes, std::greater<float>());
  return lanes[kEight - 1];
}

// NaN compares false, so a NaN is never taken; what is left of fewer than eight numbers is -inf.
// `flags` has room for the row.
void Top8(std::span<const float> row, uint8_t* flags, float* top) {
  std::fill_n(top, kEight, -std::numeric_limits<float>::infinity());
  const float threshold = Threshold(row);
  for (size_t i = 0; i < row.size(); ++i) flags[i] = row[i] >= threshold;
  for (size_t i = 0; i < row.size(); i += sizeof(uint64_t)) {
    uint64_t set = 0;
    std::memcpy(&set, flags + i, std::min(sizeof set, row.size() - i));
    for (; set != 0; set &= set - 1)  // most of a long row is passed over
      Insert(row[i + static_cast<size_t>(std::countr_zero(set)) / 8], top);
  }
}

Status ExecuteMax8(ExecuteContext& context, const Instr&) {
  const Walk& from = context.walk(max8::kSrc);
  FloatReader in = context.Floats(max8::kSrc);
  FloatWriter out = context.FloatsOut(max8::kDst);
  std::vector<uint8_t> flags(static_cast<size_t>(from.row_elements()));
  for (int64_t p = 0; p < from.rows(); ++p) {
    Top8({in.Row(p), flags.size()}, flags.data(), out.Row(p));
    out.Done(p);
  }
  return {};
}

// nc_find_index8 --------------------------------------------------------------------------------

constexpr Param kNcFindIndex8Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, Types({DType::kU16, DType::kU32})},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"vals", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
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

Status ExecuteNcFindIndex8(ExecuteContext& context, const Instr&) {
  using namespace nc_find_index8;  // NOLINT
  const Walk& from = context.walk(kData);
  WT_ASSIGN_OR_RETURN(const std::vector<float> vals, context.ReadFloats(kVals));
  FloatReader data = context.Floats(kData);
  std::vector<int64_t> found(vals.size());
  for (int64_t p = 0; p < from.rows(); ++p) {
    const size_t at = static_cast<size_t>(p) * kEight;
    FindIndices({data.Row(p), static_cast<size_t>(from.row_elements())}, &vals[at], &found[at]);
  }
  context.WriteInts(kDst, found);
  return {};
}

// nc_match_replace8 -----------------------------------------------------------------------------

constexpr Param kNcMatchReplace8Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"vals", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
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
  const Walk& from = context.walk(kData);
  const auto imm = static_cast<float>(ArgOf(instr, kImm).number());
  WT_ASSIGN_OR_RETURN(const std::vector<float> vals, context.ReadFloats(kVals));
  FloatReader data = context.Floats(kData);
  FloatWriter out = context.FloatsOut(kDst);
  std::vector<int64_t> found(vals.size());
  for (int64_t p = 0; p < from.rows(); ++p) {
    const size_t at = static_cast<size_t>(p) * kEight;
    const std::span<float> row = {out.Row(p), static_cast<size_t>(from.row_elements())};
    std::copy_n(data.Row(p), row.size(), row.data());
    MatchReplace(row, &vals[at], imm, &found[at]);
    out.Done(p);
  }
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
