// dma_compute: the adder inside the DMA engines. With a vector offset on one side it is a
// read-modify-write: scatter-add to HBM, or gather-add into SBUF.
#include <algorithm>
#include <bit>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace dma_compute {
namespace {

constexpr int64_t kMostSources = 16;

constexpr Param kParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInHbm, kComputeTypes},
    {"srcs", ParamKind::kSrcs, nullptr, kInSbuf | kInHbm, kComputeTypes},
    {"reduce_op", ParamKind::kAluOp},
    {"scales", ParamKind::kFloats, "None"},
    {"unique_indices", ParamKind::kBool, "True"},
    {"oob_mode", ParamKind::kOobMode, "error"},
    kNameParam,
};

const Dynamic* VectorOffsetOf(const Instr& instr, int64_t operand) {
  for (const Dynamic& dynamic : instr.dynamics) {
    if (dynamic.operand == operand && dynamic.vector) return &dynamic;
  }
  return nullptr;
}

bool SameWalk(const AccessPattern& a, const AccessPattern& b) {
  if (a.tensor != b.tensor || a.dtype != b.dtype || a.num_dims != b.num_dims ||
      a.start_partition != b.start_partition || a.offset != b.offset) {
    return false;
  }
  return std::equal(a.dims.begin(), a.dims.begin() + a.num_dims, b.dims.begin(),
                    [](Dim x, Dim y) { return x.step == y.step && x.size == y.size; });
}

Status CheckScales(const Instr& instr) {
  if (!instr.has(kScales)) return {};
  const std::span<const int64_t> scales = instr.ints_of(kScales);
  if (static_cast<int32_t>(scales.size()) != ArgOf(instr, kSrcs).count) {
    return KernelError(ErrorClass::kArgument,
                       "dma_compute: {} scales for {} sources; expected one each, or None",
                       scales.size(), ArgOf(instr, kSrcs).count);
  }
  for (int64_t bits : scales) {
    if (std::bit_cast<double>(bits) == 1.0) continue;
    return KernelError(ErrorClass::kArgument,
                       "dma_compute: a scale is {}; expected 1.0, the only one there is: scale on "
                       "another engine",
                       std::bit_cast<double>(bits));
  }
  return {};
}

// With a vector offset: two sources, one of them dst itself.
Status CheckReadModifyWrite(const Instr& instr) {
  const Arg& srcs = ArgOf(instr, kSrcs);
  if (srcs.count != 2) {
    return KernelError(ErrorClass::kArgument,
                       "dma_compute: {} sources with a vector offset; expected two: what is added "
                       "and dst itself",
                       srcs.count);
  }
  if (instr.has(kUniqueIndices) && !instr.flag(kUniqueIndices)) {
    return KernelError(ErrorClass::kArgument,
                       "dma_compute: unique_indices is False with a vector offset; expected True: "
                       "repeated indices are not supported, sum them before");
  }
  for (int64_t k = 0; k < 2; ++k) {
    const AccessPattern& src = instr.operands[static_cast<size_t>(srcs.i + k)];
    if (SameWalk(src, instr.operand(kDst))) return {};
  }
  return KernelError(ErrorClass::kArgument,
                     "dma_compute: no source is dst; with a vector offset one of the two must be");
}

Status Check(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckOp(instr, kReduceOp, {AluOp::kAdd}));
  WT_RETURN_IF_ERROR(CheckScales(instr));
  const Arg& srcs = ArgOf(instr, kSrcs);
  if (srcs.count < 1 || srcs.count > kMostSources) {
    return KernelError(ErrorClass::kArgument, "dma_compute: {} sources; expected 1 to {}",
                       srcs.count, kMostSources);
  }
  bool vector = VectorOffsetOf(instr, ArgOf(instr, kDst).i) != nullptr;
  for (int64_t k = 0; k < srcs.count; ++k) {
    const AccessPattern& src = instr.operands[static_cast<size_t>(srcs.i + k)];
    vector |= VectorOffsetOf(instr, srcs.i + k) != nullptr;
    if (src.elements() == instr.operand(kDst).elements()) continue;
    return KernelError(ErrorClass::kShape,
                       "dma_compute: source {} has {} elements, dst {}; expected as many", k,
                       src.elements(), instr.operand(kDst).elements());
  }
  return vector ? CheckReadModifyWrite(instr) : Status();
}

// Rows of dst that two indices name would be added to in no defined order.
Status CheckUnique(const Walk& dst) {
  std::vector<int64_t> rows = dst.row_offsets;
  std::sort(rows.begin(), rows.end());
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i] != rows[i - 1] || rows[i] == Walk::kSkip) continue;
    return KernelError(ErrorClass::kUndefined,
                       "dma_compute: two vector offsets name the same row of dst, at element {}; "
                       "hardware does not define the sum: make indices unique",
                       rows[i]);
  }
  return {};
}

// Dense, row by row; rows that an index skips count as zero.
std::vector<float> ReadSource(const Walk& walk) {
  std::vector<float> values(static_cast<size_t>(walk.rows() * walk.row_elements()));
  for (int64_t p = 0; p < walk.rows() && !walk.skipped; ++p)
    LoadRow(walk, p, values.data() + p * walk.row_elements());
  return values;
}

Status Execute(ExecuteContext& context, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckUnique(context.walk(kDst)));
  std::vector<float> sum = ReadSource(context.walk(kSrcs, 0));
  for (int k = 1; k < ArgOf(instr, kSrcs).count; ++k) {
    const std::vector<float> more = ReadSource(context.walk(kSrcs, k));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
  context.WriteFloats(kDst, sum);
  return {};
}

}  // namespace
}  // namespace dma_compute

const InstrDef kDmaCompute = {
    .name = "dma_compute",
    .summary =
        "dst = the sum of up to 16 sources of as many elements, in fp32, converted to dst's "
        "dtype. With a vector offset it adds to the rows that the indices name (scatter) or "
        "adds such rows to dst (gather): then two sources, one of them dst, and no index "
        "twice.",
    .params = dma_compute::kParams,
    .engines = {Engine::kDma},
    .default_engine = Engine::kDma,
    .check = dma_compute::Check,
    .execute = dma_compute::Execute,
    .cost = cost::DmaCompute,
};

}  // namespace wt::chip::isa
