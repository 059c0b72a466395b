// Cost rules of instructions that the Vector engine executes, also where other engines can. The
// whole law of an isolated instruction takes the engine: whole kernels show that start-up is not
// hidden.
#include "chip/cost/copy_law.h"
#include "chip/cost/count.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {
namespace {

Cost Vector(const Machine& machine, const Instr& instr, LawId id, int counted) {
  return ByLaw(machine, instr, id, Elements(instr, counted));
}

// Either engine, each with its law.
Cost VectorOrGpSimd(const Machine& machine, const Instr& instr, Engine engine, LawId vector,
                    LawId gpsimd, int counted) {
  return ByLaw(machine, instr, engine == Engine::kGpSimd ? gpsimd : vector,
               Elements(instr, counted));
}

// 32 x 32 elements; moving between quadrants of partitions costs more.
Cost VectorTranspose(const Machine& machine, const Instr& instr) {
  using namespace isa::nc_transpose;
  const int quadrant = static_cast<int>(machine.constant(ConstantId::kVectorTransposeMax));
  const bool same = instr.operand(kDst).start_partition / quadrant ==
                    instr.operand(kData).start_partition / quadrant;
  const LawId id = same ? LawId::kVectorTranspose : LawId::kVectorTransposeSwitch;
  return ByLaw(machine.law(id), Elements(instr, kData));
}

}  // namespace

Cost TensorCopy(const Machine& machine, const Instr& instr, Engine engine) {
  using namespace isa::tensor_copy;
  if (engine == Engine::kGpSimd) {
    return Vector(machine, instr, LawId::kGpSimdElementwise, kDst);
  }
  if (engine == Engine::kScalar) {
    return Vector(machine, instr, ScalarCopyLaw(instr.operand(kSrc), instr.operand(kDst)), kDst);
  }
  return VectorCopy(machine, instr, instr.operand(kSrc), instr.operand(kDst));
}

Cost Memset(const Machine& machine, const Instr& instr, Engine engine) {
  using namespace isa::memset;
  const bool zero = instr.args[kValue].is_number() && instr.args[kValue].number() == 0;
  const LawId vector = zero && DTypeBytes(instr.operand(kDst).dtype) == 2
                           ? LawId::kVectorMemsetZero16
                           : LawId::kVectorMemset;
  return VectorOrGpSimd(machine, instr, engine, vector, LawId::kGpSimdMemset, kDst);
}

Cost TensorCopyPredicated(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorCopyPredicated, isa::tensor_copy_predicated::kDst);
}

Cost NcTranspose(const Machine& machine, const Instr& instr, Engine engine) {
  return engine == Engine::kTensor ? TensorTranspose(machine, instr)
                                   : VectorTranspose(machine, instr);
}

Cost TensorTensor(const Machine& machine, const Instr& instr, Engine engine) {
  using namespace isa::tensor_tensor;
  const AccessPattern &data1 = instr.operand(kData1), &data2 = instr.operand(kData2);
  const bool fast = Is16Bit(instr.operand(kDst)) && Is16Bit(data1) && Is16Bit(data2) &&
                    !InPsum(data1) && !InPsum(data2);
  const LawId vector = fast ? LawId::kVectorTensorTensor16 : LawId::kVectorTensorTensor;
  Cost cost = VectorOrGpSimd(machine, instr, engine, vector, LawId::kGpSimdElementwise, kDst);
  cost.shares_port = fast && engine == Engine::kVector;
  return cost;
}

Cost TensorScalar(const Machine& machine, const Instr& instr, Engine engine) {
  using namespace isa::tensor_scalar;
  if (engine == Engine::kGpSimd) {
    const bool rsqrt = static_cast<AluOp>(instr.args[kOp0].i) == AluOp::kRsqrt;
    return Vector(machine, instr, rsqrt ? LawId::kGpSimdRsqrt : LawId::kGpSimdElementwise, kDst);
  }
  const AccessPattern &data = instr.operand(kData), &dst = instr.operand(kDst);
  if (engine == Engine::kScalar) {
    Cost cost = Vector(machine, instr, ScalarTensorScalarLaw(data, dst), kDst);
    AddScalarOperand(machine, IsOperand(instr, kOperand0) + IsOperand(instr, kOperand1), &cost);
    return cost;
  }
  const bool plain =
      data.dtype == DType::kF32 && dst.dtype == DType::kF32 && !InPsum(data) && !InPsum(dst);
  return plain ? Vector(machine, instr, LawId::kVectorTensorScalarF32, kDst)
               : VectorCopy(machine, instr, data, dst);
}

Cost ScalarTensorTensor(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorElementwise, isa::scalar_tensor_tensor::kDst);
}

Cost TensorReduce(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorReduce, isa::tensor_reduce::kData);
}

Cost TensorScalarReduce(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorTensorScalarReduce, isa::tensor_scalar_reduce::kData);
}

Cost TensorScalarCumulative(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorCumulative, isa::tensor_scalar_cumulative::kSrc);
}

Cost TensorTensorScan(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::tensor_tensor_scan;
  Cost cost = Vector(machine, instr, LawId::kVectorScan, kDst);
  if (IsOperand(instr, kInitial)) {
    const double seed = machine.constant(ConstantId::kScanTensorSeed);
    cost.interval_ns += seed;
    cost.latency_ns += seed;
  }
  return cost;
}

Cost NcStreamShuffle(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorShuffle, isa::nc_stream_shuffle::kDst);
}

Cost BnStats(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorBnStats, isa::bn_stats::kData);
}

Cost BnAggr(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorBnAggr, isa::bn_aggr::kData);
}

Cost Reciprocal(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorReciprocal, isa::reciprocal::kDst);
}

Cost Max8(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorSearch, isa::max8::kSrc);
}

Cost NcFindIndex8(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorSearch, isa::nc_find_index8::kData);
}

Cost NcMatchReplace8(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorSearch, isa::nc_match_replace8::kData);
}

Cost RangeSelect(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorSelect, isa::range_select::kDst);
}

Cost SelectReduce(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorSelect, isa::select_reduce::kDst);
}

Cost Rng(const Machine& machine, const Instr& instr, Engine engine) {
  return VectorOrGpSimd(machine, instr, engine, LawId::kVectorRandom, LawId::kGpSimdRandom,
                        isa::rng::kDst);
}

Cost Dropout(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorRandom, isa::dropout::kDst);
}

Cost Rand2(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorRandom, isa::rand2::kDst);
}

Cost SetRngSeed(const Machine& machine, const Instr& instr, Engine engine) {
  return VectorOrGpSimd(machine, instr, engine, LawId::kVectorElementwise,
                        LawId::kGpSimdElementwise, isa::set_rng_seed::kSrcSeeds);
}

Cost RandSetState(const Machine& machine, const Instr& instr, Engine engine) {
  return VectorOrGpSimd(machine, instr, engine, LawId::kVectorElementwise,
                        LawId::kGpSimdElementwise, isa::rand_set_state::kSrcSeeds);
}

Cost RandGetState(const Machine& machine, const Instr& instr, Engine engine) {
  return VectorOrGpSimd(machine, instr, engine, LawId::kVectorElementwise,
                        LawId::kGpSimdElementwise, isa::rand_get_state::kDst);
}

Cost Exponential(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorExponential, isa::exponential::kDst);
}

Cost QuantizeMx(const Machine& machine, const Instr& instr, Engine) {
  return Vector(machine, instr, LawId::kVectorQuantizeMx, isa::quantize_mx::kSrc);
}

}  // namespace wt::chip::cost
