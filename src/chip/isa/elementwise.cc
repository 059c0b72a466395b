// tensor_tensor, tensor_scalar, scalar_tensor_tensor, reciprocal: one result an element.
#include <algorithm>

#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace elementwise {
namespace {

Status CheckIntegers(const Instr& instr, std::initializer_list<int> params) {
  for (int param : params) {
    if (!instr.is_operand(param) || Has(kIntegerTypes, instr.operand(param).dtype)) continue;
    return KernelError(ErrorClass::kDtype, "{} is {}; bitwise operations expect integers",
                       OperandName(instr, param), DTypeName(instr.operand(param).dtype));
  }
  return {};
}

int WidthOf(const Walk& walk) { return static_cast<int>(8 * DTypeBytes(walk.pattern.dtype)); }

// tensor_tensor

namespace tt = tensor_tensor;

constexpr Param kTensorTensorParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data1", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data2", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op", ParamKind::kAluOp},
    {"engine", ParamKind::kEngine, "unknown"},
    {"name", ParamKind::kString, "None"},
};

// 32-bit integers throughout, for which GpSimd has exact arithmetic.
bool AllInt32(const Instr& instr) {
  const auto is_int32 = [&](int param) {
    const DType dtype = instr.operand(param).dtype;
    return dtype == DType::kI32 || dtype == DType::kU32;
  };
  return is_int32(tt::kDst) && is_int32(tt::kData1) && is_int32(tt::kData2);
}

EngineSet TensorTensorEngines(const Machine&, const Instr& instr) {
  const auto op = instr.name_of<AluOp>(tt::kOp);
  if (op == AluOp::kPower) return {Engine::kGpSimd};
  if (IsBitwise(op)) return {Engine::kVector};
  const bool exact = AllInt32(instr) && !AnyInPsum(instr);
  if (exact && instr.engine == Engine::kUnknown) return {Engine::kGpSimd};
  return {Engine::kVector, Engine::kGpSimd};
}

Status CheckTensorTensor(const Machine&, const Instr& instr) {
  const auto op = instr.name_of<AluOp>(tt::kOp);
  if (!IsBitwise(op) && !IsBinaryArithmetic(op))
    return KernelError(ErrorClass::kArgument, "tensor_tensor: op {} does not take two inputs",
                       AluOpName(op));
  if (op == AluOp::kInvert)
    return KernelError(ErrorClass::kArgument, "tensor_tensor: op invert does not take two inputs");
  if (IsBitwise(op)) WT_RETURN_IF_ERROR(CheckIntegers(instr, {tt::kDst, tt::kData1, tt::kData2}));
  WT_RETURN_IF_ERROR(CheckNotBothPsum(instr, tt::kData1, tt::kData2));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, tt::kDst, tt::kData1));
  return CheckSameSize(instr, tt::kDst, tt::kData2);
}

// Calls fn(a, b, out, n) on blocks of elements as 32-bit words.
template <class Fn>
void ForWordBlocks(ExecuteContext& context, const Fn& fn) {
  const Walk& to = context.walk(tt::kDst);
  WordReader a = context.Words(tt::kData1), b = context.Words(tt::kData2);
  WordWriter out = context.WordsOut(tt::kDst);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    fn(a.Rows(p, count), b.Rows(p, count), out.Rows(p, count), count * to.row_elements());
    out.Done(p, count);
  });
}

void ExecuteBits(ExecuteContext& context, AluOp op) {
  const int width = WidthOf(context.walk(tt::kData1));
  ForWordBlocks(context, [&](const uint32_t* a, const uint32_t* b, uint32_t* out, int64_t n) {
    BitRows(op, a, b, 1, false, width, out, n);
  });
}

void ExecuteInts(ExecuteContext& context, AluOp op) {
  const bool is_signed = context.walk(tt::kData1).pattern.dtype == DType::kI32;
  ForWordBlocks(context, [&](const uint32_t* a, const uint32_t* b, uint32_t* out, int64_t n) {
    AluInts(op, reinterpret_cast<const int32_t*>(a), reinterpret_cast<const int32_t*>(b), is_signed,
            reinterpret_cast<int32_t*>(out), n);
  });
}

Status ExecuteTensorTensor(ExecuteContext& context, const Instr& instr) {
  const auto op = instr.name_of<AluOp>(tt::kOp);
  if (IsBitwise(op)) return ExecuteBits(context, op), Status();
  const EngineSet engines = CandidateEngines(context.machine(), instr);
  if (AllInt32(instr) && !engines.has(Engine::kVector)) return ExecuteInts(context, op), Status();
  FloatReader a = context.Floats(tt::kData1), b = context.Floats(tt::kData2);
  FloatWriter out = context.FloatsOut(tt::kDst);
  const Walk& to = context.walk(tt::kDst);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    AluRows(op, a.Rows(p, count), b.Rows(p, count), out.Rows(p, count), count * to.row_elements());
    out.Done(p, count);
  });
  return {};
}

// tensor_scalar

namespace ts = tensor_scalar;

constexpr Param kTensorScalarParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op0", ParamKind::kAluOp},
    {"operand0", ParamKind::kSrcOrFloat, "None"},
    {"reverse0", ParamKind::kBool, "False"},
    {"op1", ParamKind::kAluOp, "None"},
    {"operand1", ParamKind::kSrcOrFloat, "None"},
    {"reverse1", ParamKind::kBool, "False"},
    {"engine", ParamKind::kEngine, "unknown"},
    {"name", ParamKind::kString, "None"},
};

// What the Scalar engine can do in one pass: multiply and add, or one of them.
bool FitsScalarEngine(const Instr& instr) {
  const auto op0 = instr.name_of<AluOp>(ts::kOp0);
  if (instr.flag(ts::kReverse1) || (op0 != AluOp::kMultiply && op0 != AluOp::kAdd)) return false;
  if (!instr.has(ts::kOp1)) return true;
  return op0 == AluOp::kMultiply && instr.name_of<AluOp>(ts::kOp1) == AluOp::kAdd;
}

bool Uses(const Instr& instr, AluOp op) {
  return instr.name_of<AluOp>(ts::kOp0) == op ||
         (instr.has(ts::kOp1) && instr.name_of<AluOp>(ts::kOp1) == op);
}

EngineSet TensorScalarEngines(const Machine&, const Instr& instr) {
  EngineSet engines{Engine::kVector};
  if (IsBitwise(instr.name_of<AluOp>(ts::kOp0))) return engines;
  if (Uses(instr, AluOp::kRsqrt)) return {Engine::kGpSimd};
  if (Uses(instr, AluOp::kPower)) return {Engine::kVector, Engine::kGpSimd};
  if (FitsScalarEngine(instr)) return {Engine::kVector, Engine::kScalar};
  return engines;
}

Status CheckStage(const Instr& instr, int op_param, int operand) {
  const auto op = instr.name_of<AluOp>(op_param);
  if (op == AluOp::kAverage || (op == AluOp::kBypass && op_param == ts::kOp1))
    return KernelError(ErrorClass::kArgument, "{}: op {} is not one of its operations",
                       instr.def->name, AluOpName(op));
  const bool needs = !IsUnary(op) && op != AluOp::kBypass;
  if (needs && !instr.has(operand))
    return KernelError(ErrorClass::kArgument, "{} is missing; op {} takes two inputs",
                       OperandName(instr, operand), AluOpName(op));
  if (!needs && instr.is_operand(operand))
    return KernelError(ErrorClass::kArgument, "{} is a tensor; op {} takes one input: leave it out",
                       OperandName(instr, operand), AluOpName(op));
  WT_RETURN_IF_ERROR(CheckColumn(instr, operand, ts::kData));
  if (!IsBitwise(op) && instr.is_operand(operand) && instr.operand(operand).dtype != DType::kF32)
    return KernelError(ErrorClass::kDtype, "{} is {}; arithmetic operations expect f32",
                       OperandName(instr, operand), DTypeName(instr.operand(operand).dtype));
  return {};
}

Status CheckTensorScalar(const Machine&, const Instr& instr) {
  const auto op0 = instr.name_of<AluOp>(ts::kOp0);
  WT_RETURN_IF_ERROR(CheckSameSize(instr, ts::kDst, ts::kData));
  WT_RETURN_IF_ERROR(CheckStage(instr, ts::kOp0, ts::kOperand0));
  if (instr.has(ts::kOp1)) {
    const auto op1 = instr.name_of<AluOp>(ts::kOp1);
    WT_RETURN_IF_ERROR(CheckStage(instr, ts::kOp1, ts::kOperand1));
    if (IsBitwise(op0) != IsBitwise(op1))
      return KernelError(
          ErrorClass::kArgument,
          "tensor_scalar: op0 {} and op1 {} must both work on bits or both on numbers",
          AluOpName(op0), AluOpName(op1));
  } else if (instr.has(ts::kOperand1)) {
    return KernelError(ErrorClass::kArgument, "tensor_scalar: operand1 is given without op1");
  }
  if (IsBitwise(op0))
    return CheckIntegers(instr, {ts::kDst, ts::kData, ts::kOperand0, ts::kOperand1});
  return {};
}

std::vector<uint32_t> ScalarBits(ExecuteContext& context, const Instr& instr, int param,
                                 int64_t partitions, int width) {
  std::vector<uint32_t> bits;
  if (instr.is_operand(param)) {
    bits = std::move(context.ReadBits(param)).value();
  } else {
    const auto number = static_cast<int64_t>(instr.args[static_cast<size_t>(param)].number());
    bits.assign(static_cast<size_t>(partitions), static_cast<uint32_t>(number));
  }
  const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  for (uint32_t& word : bits) word &= mask;
  return bits;
}

void ExecuteScalarBits(ExecuteContext& context, const Instr& instr) {
  const Walk& to = context.walk(ts::kDst);
  const int64_t n = to.row_elements();
  const int width = WidthOf(context.walk(ts::kData));
  const bool two = instr.has(ts::kOp1);
  const std::vector<uint32_t> scalars0 =
      ScalarBits(context, instr, ts::kOperand0, to.rows(), width);
  const std::vector<uint32_t> scalars1 =
      ScalarBits(context, instr, ts::kOperand1, to.rows(), width);
  WordReader in = context.Words(ts::kData);
  WordWriter out = context.WordsOut(ts::kDst);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    const uint32_t* data = in.Rows(p, count);
    uint32_t* rows = out.Rows(p, count);
    for (int64_t i = 0; i < count; ++i) {
      uint32_t* row = rows + i * n;
      const size_t at = static_cast<size_t>(p + i);
      BitRows(instr.name_of<AluOp>(ts::kOp0), data + i * n, &scalars0[at], 0,
              instr.flag(ts::kReverse0), width, row, n);
      if (two)
        BitRows(instr.name_of<AluOp>(ts::kOp1), row, &scalars1[at], 0, instr.flag(ts::kReverse1),
                width, row, n);
    }
    out.Done(p, count);
  });
}

Status ExecuteTensorScalar(ExecuteContext& context, const Instr& instr) {
  const auto op0 = instr.name_of<AluOp>(ts::kOp0);
  if (IsBitwise(op0)) return ExecuteScalarBits(context, instr), Status();
  const Walk& to = context.walk(ts::kDst);
  const float* scalars0 = context.Scalars(ts::kOperand0, to.rows());
  const float* scalars1 = context.Scalars(ts::kOperand1, to.rows());
  FloatReader in = context.Floats(ts::kData);
  FloatWriter out = context.FloatsOut(ts::kDst);
  const int64_t n = to.row_elements();
  const auto op1 = instr.name_of<AluOp>(ts::kOp1);
  const bool two = instr.has(ts::kOp1);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    const float* data = in.Rows(p, count);
    float* rows = out.Rows(p, count);
    for (int64_t i = 0; i < count; ++i) {
      float* row = rows + i * n;
      AluScalar(op0, data + i * n, scalars0[p + i], instr.flag(ts::kReverse0), row, n);
      if (two) AluScalar(op1, row, scalars1[p + i], instr.flag(ts::kReverse1), row, n);
    }
    out.Done(p, count);
  });
  return {};
}

// scalar_tensor_tensor

namespace stt = scalar_tensor_tensor;

constexpr Param kScalarTensorTensorParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op0", ParamKind::kAluOp},
    {"operand0", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"op1", ParamKind::kAluOp},
    {"operand1", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"reverse0", ParamKind::kBool, "False"},
    {"reverse1", ParamKind::kBool, "False"},
    {"name", ParamKind::kString, "None"},
};

Status CheckScalarTensorTensor(const Machine&, const Instr& instr) {
  for (int param : {int(stt::kOp0), int(stt::kOp1)}) {
    const auto op = instr.name_of<AluOp>(param);
    if (!IsBinaryArithmetic(op))
      return KernelError(ErrorClass::kArgument,
                         "{}: op {} is not an arithmetic operation of two inputs",
                         OperandName(instr, param), AluOpName(op));
  }
  WT_RETURN_IF_ERROR(CheckColumn(instr, stt::kOperand0, stt::kData));
  WT_RETURN_IF_ERROR(CheckNotBothPsum(instr, stt::kData, stt::kOperand1));
  WT_RETURN_IF_ERROR(CheckSameSize(instr, stt::kDst, stt::kData));
  return CheckSameSize(instr, stt::kDst, stt::kOperand1);
}

Status ExecuteScalarTensorTensor(ExecuteContext& context, const Instr& instr) {
  const Walk& to = context.walk(stt::kDst);
  const int64_t n = to.row_elements();
  const float* scalars = context.Scalars(stt::kOperand0, to.rows());
  FloatReader a = context.Floats(stt::kData), b = context.Floats(stt::kOperand1);
  FloatWriter out = context.FloatsOut(stt::kDst);
  float* first = context.state().scratch.Floats(n * std::min(BlockRows(n), to.rows()));
  const auto op0 = instr.name_of<AluOp>(stt::kOp0), op1 = instr.name_of<AluOp>(stt::kOp1);
  const bool reverse1 = instr.flag(stt::kReverse1);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    const float* data = a.Rows(p, count);
    for (int64_t i = 0; i < count; ++i)
      AluScalar(op0, data + i * n, scalars[p + i], instr.flag(stt::kReverse0), first + i * n, n);
    const float* second = b.Rows(p, count);
    AluRows(op1, reverse1 ? second : first, reverse1 ? first : second, out.Rows(p, count),
            count * n);
    out.Done(p, count);
  });
  return {};
}

// reciprocal

namespace rc = reciprocal;

constexpr Param kReciprocalParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"data", ParamKind::kSrc, nullptr, kInSbuf | kInPsum, kComputeTypes},
    {"name", ParamKind::kString, "None"},
};

Status CheckReciprocal(const Machine&, const Instr& instr) {
  return CheckSameSize(instr, rc::kDst, rc::kData);
}

Status ExecuteReciprocal(ExecuteContext& context, const Instr&) {
  const Walk& to = context.walk(rc::kDst);
  FloatReader in = context.Floats(rc::kData);
  FloatWriter out = context.FloatsOut(rc::kDst);
  ForBlocks(to, [&](int64_t p, int64_t count) {
    AluScalar(AluOp::kReciprocal, in.Rows(p, count), 0, false, out.Rows(p, count),
              count * to.row_elements());
    out.Done(p, count);
  });
  return {};
}

}  // namespace
}  // namespace elementwise

const InstrDef kTensorTensor = {
    .name = "tensor_tensor",
    .summary =
        "dst = data1 op data2, element by element, in fp32. Bitwise operations work on the bits of "
        "integers. 32-bit integers throughout are exact on the gpsimd engine, where they go unless "
        "one of them is in PSUM; power exists only there.",
    .params = elementwise::kTensorTensorParams,
    .engines = {Engine::kVector, Engine::kGpSimd},
    .default_engine = Engine::kUnknown,
    .candidates = elementwise::TensorTensorEngines,
    .check = elementwise::CheckTensorTensor,
    .execute = elementwise::ExecuteTensorTensor,
    .cost = cost::TensorTensor,
};

const InstrDef kTensorScalar = {
    .name = "tensor_scalar",
    .summary =
        "dst = (data op0 operand0) op1 operand1 in fp32, each operand a number or one value a "
        "partition; reverse0 and reverse1 exchange the two sides. Both operations work on numbers "
        "or both on the bits of integers.",
    .params = elementwise::kTensorScalarParams,
    .engines = {Engine::kVector, Engine::kScalar, Engine::kGpSimd},
    .default_engine = Engine::kUnknown,
    .candidates = elementwise::TensorScalarEngines,
    .check = elementwise::CheckTensorScalar,
    .execute = elementwise::ExecuteTensorScalar,
    .cost = cost::TensorScalar,
};

const InstrDef kScalarTensorTensor = {
    .name = "scalar_tensor_tensor",
    .summary =
        "dst = (data op0 operand0) op1 operand1 in fp32, operand0 a number or one value a "
        "partition, operand1 a tile.",
    .params = elementwise::kScalarTensorTensorParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = elementwise::CheckScalarTensorTensor,
    .execute = elementwise::ExecuteScalarTensorTensor,
    .cost = cost::ScalarTensorTensor,
};

const InstrDef kReciprocal = {
    .name = "reciprocal",
    .summary = "dst = 1 / data in fp32, rounded correctly.",
    .params = elementwise::kReciprocalParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = elementwise::CheckReciprocal,
    .execute = elementwise::ExecuteReciprocal,
    .cost = cost::Reciprocal,
};

}  // namespace wt::chip::isa
