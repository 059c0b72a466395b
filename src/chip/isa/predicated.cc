// tensor_copy_predicated: the one copy that leaves some of its destination alone.
#include <cstring>

#include "chip/bytes.h"
#include "chip/convert.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace tensor_copy_predicated {
namespace {

constexpr Param kParams[] = {
    {"dst", ParamKind::kDst},
    {"src", ParamKind::kSrcOrFloat},
    {"predicate", ParamKind::kSrc, nullptr, kInSbuf | kInPsum,
     Types({DType::kU8, DType::kU16, DType::kU32, DType::kBool})},
    {"reverse_pred", ParamKind::kBool, "False"},
    {"name", ParamKind::kString, "None"},
};

Status CheckPredicated(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kDst, kPredicate));
  if (!instr.is_operand(kSrc)) return {};
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kDst, kSrc));
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kDst, kSrc));
  return CheckNotBothPsum(instr, kSrc, kPredicate);
}

// What would be written everywhere, packed.
std::vector<std::byte> Source(ExecuteContext& context, const Instr& instr) {
  const AccessPattern& dst = context.walk(kDst).pattern;
  const int64_t bytes = DTypeBytes(dst.dtype);
  std::vector<std::byte> values(static_cast<size_t>(dst.elements() * bytes));
  if (instr.is_operand(kSrc)) {
    GatherBytes(context.walk(kSrc), values.data());
  } else {
    StoreNumber(dst.dtype, instr.args[kSrc].number(), dst.elements(), values.data());
  }
  return values;
}

// Elements that the predicate leaves out are neither changed nor taken as written.
Status ExecutePredicated(ExecuteContext& context, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> predicate, context.ReadBits(kPredicate));
  const std::vector<std::byte> source = Source(context, instr);
  const Walk& to = context.walk(kDst);
  const AccessPattern& dst = to.pattern;
  const bool all_written = !FirstUnwritten(dst);
  const int64_t bytes = DTypeBytes(dst.dtype);
  const bool reverse = instr.flag(kReversePred);
  size_t k = 0;
  for (int64_t p = 0; p < to.rows(); ++p) {
    std::byte* row = to.Row(p);
    ForRuns(dst, row, [&](std::byte* start, int64_t step, int64_t n) {
      for (int64_t i = 0; i < n; ++i, ++k) {
        if ((predicate[k] != 0) == reverse) continue;
        std::byte* at = start + i * step * bytes;
        std::memcpy(at, &source[k * static_cast<size_t>(bytes)], static_cast<size_t>(bytes));
        if (all_written) continue;
        AccessPattern element = dst;
        element.num_dims = 1;
        element.start_partition += static_cast<int32_t>(p * dst.dims[0].step);
        element.dims[0] = {1, 1};
        element.offset += (at - row) / bytes;
        MarkWritten(element);
      }
    });
  }
  if (all_written) MarkWritten(to);  // PSUM: no longer what a matmul left
  return {};
}

}  // namespace
}  // namespace tensor_copy_predicated

const InstrDef kTensorCopyPredicated = {
    .name = "tensor_copy_predicated",
    .summary =
        "Copies src, a tile or a number, to dst where predicate is not zero (where it is zero, "
        "with "
        "reverse_pred); the rest of dst stays as it is.",
    .params = tensor_copy_predicated::kParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = tensor_copy_predicated::CheckPredicated,
    .execute = tensor_copy_predicated::ExecutePredicated,
    .cost = cost::TensorCopyPredicated,
};

}  // namespace wt::chip::isa
