// tensor_reduce and tensor_tensor_scan: along the free dimensions of each partition.
#include <algorithm>

#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace reductions {
namespace {

// tensor_reduce

namespace tr = tensor_reduce;

constexpr Param kTensorReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op", ParamKind::kAluOp},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"axis", ParamKind::kInts},
    {"negate", ParamKind::kBool, "False"},
    {"keepdims", ParamKind::kBool, "False"},
    {"name", ParamKind::kString, "None"},
};

std::vector<int64_t> Axes(const Instr& instr) {
  const auto given = instr.ints_of(tr::kAxis);
  std::vector<int64_t> axes(given.begin(), given.end());
  const int64_t dims = instr.operand(tr::kData).num_dims;
  for (int64_t& axis : axes) axis = axis < 0 ? axis + dims : axis;
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Elements of data that make one of dst: the product of the axes' sizes. The axes must be the last
// ones.
Result<int64_t> ReducedElements(const Instr& instr) {
  const std::vector<int64_t> axes = Axes(instr);
  const AccessPattern& data = instr.operand(tr::kData);
  int64_t product = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t expected = data.num_dims - static_cast<int64_t>(axes.size() - i);
    if (axes[i] != expected || expected < 1)
      return KernelError(ErrorClass::kArgument,
                         "tensor_reduce: axis names dimension {} of {}; expected the last ones, "
                         "without the partition dimension",
                         axes[i], int(data.num_dims));
    product *= data.dims[static_cast<size_t>(expected)].size;
  }
  if (axes.empty()) return KernelError(ErrorClass::kArgument, "tensor_reduce: axis is empty");
  return product;
}

Status CheckReduceTypes(const Instr& instr, AluOp op) {
  if (!IsBitwise(op)) return {};
  if (instr.flag(tr::kNegate))
    return KernelError(ErrorClass::kArgument,
                       "tensor_reduce: negate cannot follow the bitwise op {}", AluOpName(op));
  for (int param : {int(tr::kDst), int(tr::kData)}) {
    if (!Has(kIntegerTypes, instr.operand(param).dtype))
      return KernelError(ErrorClass::kDtype, "{} is {}; bitwise operations expect integers",
                         OperandName(instr, param), DTypeName(instr.operand(param).dtype));
  }
  return {};
}

Status CheckTensorReduce(const Machine&, const Instr& instr) {
  const auto op = instr.name_of<AluOp>(tr::kOp);
  if (!IsReduction(op))
    return KernelError(ErrorClass::kArgument, "tensor_reduce: op {} cannot reduce", AluOpName(op));
  WT_RETURN_IF_ERROR(CheckReduceTypes(instr, op));
  WT_ASSIGN_OR_RETURN(const int64_t group, ReducedElements(instr));
  const AccessPattern& data = instr.operand(tr::kData);
  const AccessPattern& dst = instr.operand(tr::kDst);
  const int64_t results = group == 0 ? 0 : data.free_elements() / group;
  if (dst.partitions() != data.partitions() || dst.free_elements() != results)
    return KernelError(ErrorClass::kShape,
                       "tensor_reduce: dst has {} partitions of {} elements; data and axis make {} "
                       "of {}",
                       dst.partitions(), dst.free_elements(), data.partitions(), results);
  return {};
}

Status ReduceBits(ExecuteContext& context, AluOp op, int64_t group) {
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> data, context.ReadBits(tr::kData));
  std::vector<uint32_t> out(data.size() / static_cast<size_t>(group));
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t begin = i * static_cast<size_t>(group), end = begin + static_cast<size_t>(group);
    out[i] = data[begin];
    for (size_t k = begin + 1; k < end; ++k) out[i] = ApplyBits(op, out[i], data[k], 32);
  }
  context.WriteBits(tr::kDst, out);
  return {};
}

Status ExecuteTensorReduce(ExecuteContext& context, const Instr& instr) {
  const auto op = instr.name_of<AluOp>(tr::kOp);
  WT_ASSIGN_OR_RETURN(const int64_t group, ReducedElements(instr));
  if (group == 0) return {};
  if (IsBitwise(op)) return ReduceBits(context, op, group);
  const Walk& to = context.walk(tr::kDst);
  FloatReader in = context.Floats(tr::kData);
  FloatWriter out = context.FloatsOut(tr::kDst);
  const bool negate = instr.flag(tr::kNegate);
  const Walk& from = context.walk(tr::kData);
  ForBlocks(from, [&](int64_t p, int64_t count) {
    const float* data = in.Rows(p, count);
    float* results = out.Rows(p, count);
    const int64_t groups = count * to.row_elements();
    ReduceGroups(op, data, group, groups, results);
    if (negate) AluScalar(AluOp::kMultiply, results, -1.0f, false, results, groups);
    out.Done(p, count);
  });
  return {};
}

// tensor_tensor_scan

namespace sc = tensor_tensor_scan;

constexpr Param kScanParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data0", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data1", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"initial", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op0", ParamKind::kAluOp},
    {"op1", ParamKind::kAluOp},
    {"reverse0", ParamKind::kBool, "False"},
    {"reverse1", ParamKind::kBool, "False"},
    {"name", ParamKind::kString, "None"},
};

Status CheckScan(const Machine&, const Instr& instr) {
  for (int param : {int(sc::kOp0), int(sc::kOp1)}) {
    const auto op = instr.name_of<AluOp>(param);
    if (!IsBinaryArithmetic(op))
      return KernelError(ErrorClass::kArgument,
                         "{}: op {} is not an arithmetic operation of two inputs",
                         OperandName(instr, param), AluOpName(op));
  }
  WT_RETURN_IF_ERROR(CheckColumn(instr, sc::kInitial, sc::kData0));
  WT_RETURN_IF_ERROR(CheckNotBothPsum(instr, sc::kData0, sc::kData1));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, sc::kDst, sc::kData0));
  return CheckSameSize(instr, sc::kDst, sc::kData1);
}

// The chain runs in fp32; only what is stored is rounded to dst's type.
Status ExecuteScan(ExecuteContext& context, const Instr& instr) {
  const ScanOps ops = {instr.name_of<AluOp>(sc::kOp0), instr.name_of<AluOp>(sc::kOp1),
                       instr.flag(sc::kReverse0), instr.flag(sc::kReverse1)};
  const Walk& to = context.walk(sc::kDst);
  const int64_t n = to.row_elements();
  float* state = context.state().scratch.Floats(to.rows());
  std::copy_n(context.Scalars(sc::kInitial, to.rows()), to.rows(), state);
  float* a = context.state().scratch.Floats(kScanRows * n);
  float* b = context.state().scratch.Floats(kScanRows * n);
  FloatReader data0 = context.Floats(sc::kData0), data1 = context.Floats(sc::kData1);
  MarkWritten(to);
  for (int64_t p = 0; p < to.rows(); p += kScanRows) {
    const int64_t count = std::min(kScanRows, to.rows() - p);
    for (int64_t r = 0; r < count; ++r) {
      std::copy_n(data0.Row(p + r), n, a + r * n);
      std::copy_n(data1.Row(p + r), n, b + r * n);
    }
    ScanRows(ops, a, b, count, n, state + p, a);
    StoreRows(to, p, count, a);
  }
  return {};
}

}  // namespace
}  // namespace reductions

const InstrDef kTensorReduce = {
    .name = "tensor_reduce",
    .summary =
        "Reduces the last free dimensions of data, those named by axis, to one element each, in "
        "fp32 (bitwise operations: on the bits of integers); negate multiplies the result by -1.",
    .params = reductions::kTensorReduceParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = reductions::CheckTensorReduce,
    .execute = reductions::ExecuteTensorReduce,
    .cost = cost::TensorReduce,
};

const InstrDef kTensorTensorScan = {
    .name = "tensor_tensor_scan",
    .summary =
        "dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i] along the free dimensions, from initial "
        "on, chained in fp32; reverse0 and reverse1 exchange the two sides.",
    .params = reductions::kScanParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = reductions::CheckScan,
    .execute = reductions::ExecuteScan,
    .cost = cost::TensorTensorScan,
};

}  // namespace wt::chip::isa
