// Instructions of GpSimd that walk an affine expression, offset + partition * channel_multiplier +
// sum of step * index: iota writes its values, affine_select compares them with zero.
#include <cstdint>

#include "chip/convert.h"
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace affine {
namespace {

constexpr size_t kMaxPatternDims = 4;

Status CheckPattern(const Instr& instr, int pattern, int dst) {
  const std::span<const int64_t> ints = instr.ints_of(pattern);
  if (ints.empty() || ints.size() % 2 != 0 || ints.size() > 2 * kMaxPatternDims) {
    return KernelError(ErrorClass::kArgument,
                       "{} has {} numbers; expected one to four pairs [step, size]",
                       OperandName(instr, pattern), ints.size());
  }
  int64_t elements = 1;
  for (size_t i = 1; i < ints.size(); i += 2) {
    if (ints[i] < 1) {
      return KernelError(ErrorClass::kArgument, "{} has a size of {}; expected at least 1",
                         OperandName(instr, pattern), ints[i]);
    }
    elements *= ints[i];
  }
  if (elements == instr.operand(dst).free_elements()) return {};
  return KernelError(ErrorClass::kShape,
                     "{} makes {} values a partition, dst has {} elements; expected as many",
                     OperandName(instr, pattern), elements, instr.operand(dst).free_elements());
}

// The values of partition 0 in 32-bit arithmetic that wraps; other partitions add their multiple.
std::vector<uint32_t> FirstPartition(std::span<const int64_t> pattern, uint32_t offset) {
  std::vector<uint32_t> values = {offset};
  for (size_t i = 0; i < pattern.size(); i += 2) {
    std::vector<uint32_t> outer = std::move(values);
    values.clear();
    values.reserve(outer.size() * static_cast<size_t>(pattern[i + 1]));
    for (uint32_t base : outer) {
      for (int64_t k = 0; k < pattern[i + 1]; ++k) {
        values.push_back(base + static_cast<uint32_t>(pattern[i]) * static_cast<uint32_t>(k));
      }
    }
  }
  return values;
}

// iota ------------------------------------------------------------------------------------------

constexpr Param kIotaParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, kComputeTypes},
    {"pattern", ParamKind::kPattern},
    {"offset", ParamKind::kInt, "0"},
    {"channel_multiplier", ParamKind::kInt, "0"},
    kNameParam,
};

Status CheckIota(const Machine&, const Instr& instr) {
  return CheckPattern(instr, iota::kPattern, iota::kDst);
}

bool Has32Bits(DType dtype) { return dtype == DType::kI32 || dtype == DType::kU32; }

Status ExecuteIota(ExecuteContext& context, const Instr& instr) {
  const AccessPattern& dst = instr.operand(iota::kDst);
  const std::vector<uint32_t> first = FirstPartition(
      instr.ints_of(iota::kPattern), static_cast<uint32_t>(IntOf(instr, iota::kOffset)));
  const auto step = static_cast<uint32_t>(IntOf(instr, iota::kChannelMultiplier));
  const auto partitions = static_cast<size_t>(dst.partitions());
  const size_t width = first.size();
  if (Has32Bits(dst.dtype)) {
    std::vector<uint32_t> values(partitions * width);
    for (size_t p = 0; p < partitions; ++p) {
      const uint32_t add = step * static_cast<uint32_t>(p);
      for (size_t i = 0; i < width; ++i) values[p * width + i] = first[i] + add;
    }
    context.WriteBits(iota::kDst, values);
    return {};
  }
  FloatWriter out = context.FloatsOut(iota::kDst);
  for (size_t p = 0; p < partitions; ++p) {
    const uint32_t add = step * static_cast<uint32_t>(p);
    float* row = out.Row(static_cast<int64_t>(p));
    for (size_t i = 0; i < width; ++i)
      row[i] = static_cast<float>(static_cast<int32_t>(first[i] + add));
    out.Done(static_cast<int64_t>(p));
  }
  return {};
}

// affine_select ---------------------------------------------------------------------------------

constexpr Param kAffineSelectParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, kComputeTypes},
    {"pattern", ParamKind::kPattern},
    {"channel_multiplier", ParamKind::kInt},
    {"on_true_tile", ParamKind::kSrc, nullptr, kInSbuf, kComputeTypes},
    {"on_false_value", ParamKind::kFloat},
    {"cmp_op", ParamKind::kAluOp, "equal"},
    {"offset", ParamKind::kInt, "0"},
    kNameParam,
};

Status CheckAffineSelect(const Machine&, const Instr& instr) {
  using namespace affine_select;  // NOLINT
  WT_RETURN_IF_ERROR(CheckOp(instr, kCmpOp,
                             {AluOp::kEqual, AluOp::kNotEqual, AluOp::kLess, AluOp::kLessEqual,
                              AluOp::kGreater, AluOp::kGreaterEqual}));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kOnTrueTile, kDst));
  return CheckPattern(instr, kPattern, kDst);
}

// to[i] = from[i] where the affine value first[i] + add compares so with zero, else otherwise.
template <class T, class Compare>
void SelectRow(const std::vector<uint32_t>& first, uint32_t add, Compare compare, T otherwise,
               const T* from, T* to) {
  for (size_t i = 0; i < first.size(); ++i) {
    const T value = from[i];
    to[i] = compare(static_cast<int32_t>(first[i] + add)) ? value : otherwise;
  }
}

template <class T>
void SelectRow(AluOp op, const std::vector<uint32_t>& first, uint32_t add, T otherwise,
               const T* from, T* to) {
  const auto run = [&](auto compare) { SelectRow(first, add, compare, otherwise, from, to); };
  switch (op) {
    case AluOp::kEqual:
      return run([](int32_t v) { return v == 0; });
    case AluOp::kNotEqual:
      return run([](int32_t v) { return v != 0; });
    case AluOp::kLess:
      return run([](int32_t v) { return v < 0; });
    case AluOp::kLessEqual:
      return run([](int32_t v) { return v <= 0; });
    case AluOp::kGreater:
      return run([](int32_t v) { return v > 0; });
    default:
      return run([](int32_t v) { return v >= 0; });
  }
}

Status ExecuteAffineSelect(ExecuteContext& context, const Instr& instr) {
  using namespace affine_select;  // NOLINT
  const Walk& to = context.walk(kDst);
  const DType from = context.walk(kOnTrueTile).pattern.dtype;
  const auto on_false = static_cast<float>(ArgOf(instr, kOnFalseValue).number());
  const auto op = instr.name_of<AluOp>(kCmpOp, AluOp::kEqual);
  const std::vector<uint32_t> first =
      FirstPartition(instr.ints_of(kPattern), static_cast<uint32_t>(IntOf(instr, kOffset)));
  const auto add = [&](int64_t p) {
    return static_cast<uint32_t>(IntOf(instr, kChannelMultiplier)) * static_cast<uint32_t>(p);
  };
  // fp32 holds every other dtype exactly; 32-bit integers of one kind pass as they are.
  if (Has32Bits(from) && from == to.pattern.dtype) {
    uint32_t on_false_bits = 0;
    StoreFloats(from, reinterpret_cast<std::byte*>(&on_false_bits), 1, 1, &on_false);
    WT_ASSIGN_OR_RETURN(std::vector<uint32_t> bits, context.ReadBits(kOnTrueTile));
    for (int64_t p = 0; p < to.rows(); ++p) {
      uint32_t* row = bits.data() + p * to.row_elements();
      SelectRow(op, first, add(p), on_false_bits, row, row);
    }
    context.WriteBits(kDst, bits);
    return {};
  }
  FloatReader in = context.Floats(kOnTrueTile);
  FloatWriter out = context.FloatsOut(kDst);
  for (int64_t p = 0; p < to.rows(); ++p) {
    SelectRow(op, first, add(p), on_false, in.Row(p), out.Row(p));
    out.Done(p);
  }
  return {};
}

}  // namespace
}  // namespace affine

const InstrDef kIota = {
    .name = "iota",
    .summary =
        "Writes offset + partition * channel_multiplier + the sum of step * index over a "
        "pattern of up to four dimensions, computed in 32-bit integers that wrap. 32-bit "
        "integer destinations get those bits, all others the value converted from fp32.",
    .params = affine::kIotaParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = affine::CheckIota,
    .execute = affine::ExecuteIota,
    .cost = cost::Iota,
};

const InstrDef kAffineSelect = {
    .name = "affine_select",
    .summary =
        "Keeps an element of on_true_tile where the affine value (as of iota) compared with "
        "zero by cmp_op holds, and writes on_false_value elsewhere: masks such as the "
        "causal one without a mask tensor.",
    .params = affine::kAffineSelectParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = affine::CheckAffineSelect,
    .execute = affine::ExecuteAffineSelect,
    .cost = cost::AffineSelect,
};

}  // namespace wt::chip::isa
