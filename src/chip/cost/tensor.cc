// Cost rules of the tensor engine. It counts rows of the moving operand; the weight load and the
// share of the array at work go to the scheduler, which hides the one and limits the rate by the
// other (chip.md 4).
#include "chip/cost/copy_law.h"
#include "chip/cost/count.h"
#include "chip/cost_rules.h"
#include "chip/isa/params.h"

namespace wt::chip::cost {
namespace {

// fp32 and what passes through like it; packed kinds count as the bytes they hold.
bool IsFull(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kU32;
}

// `rows` of moving go through an array of which k rows and m columns work; the power limit counts
// rows alone.
Cost ByRows(const Machine& machine, const Instr& instr, LawId id, double rows, double k, double m,
            DType weights) {
  Cost cost = ByLaw(machine, instr, id, rows);
  const LawId load = IsFull(weights) ? LawId::kTensorWeightLoadF32 : LawId::kTensorWeightLoad;
  cost.weight_load_ns = machine.law(load).Interval(m);
  cost.array_activity = k / machine.constant(ConstantId::kArrayRows);
  return cost;
}

LawId MatmulLaw(const Instr& instr) {
  using namespace isa::nc_matmul;
  const bool full = IsFull(instr.operand(kMoving).dtype);
  if (instr.args[kIsTranspose].i != 0) {
    return full ? LawId::kTensorTransposeF32 : LawId::kTensorTranspose;
  }
  if (static_cast<PerfMode>(instr.args[kPerfMode].i) == PerfMode::kDoubleRow) {
    return LawId::kTensorMatmulDoubleRow;
  }
  return full ? LawId::kTensorMatmulF32 : LawId::kTensorMatmul;
}

}  // namespace

Cost NcMatmul(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::nc_matmul;
  const LawId id = MatmulLaw(instr);
  // Double rows: two rows of K stand side by side in both operands' free dimensions.
  const double share = id == LawId::kTensorMatmulDoubleRow ? 0.5 : 1;
  return ByRows(machine, instr, id, Elements(instr, kMoving) * share,
                static_cast<double>(instr.operand(kMoving).partitions()),
                Elements(instr, kStationary) * share, instr.operand(kStationary).dtype);
}

Cost NcMatmulMx(const Machine& machine, const Instr& instr, Engine) {
  using namespace isa::nc_matmul_mx;
  return ByRows(machine, instr, LawId::kTensorMatmulMx, Elements(instr, kMoving),
                static_cast<double>(instr.operand(kMoving).partitions()),
                Elements(instr, kStationary), instr.operand(kStationary).dtype);
}

// The data are the weights, an identity matrix moves: as many rows as the data have partitions.
Cost TensorTranspose(const Machine& machine, const Instr& instr) {
  using namespace isa::nc_transpose;
  const AccessPattern& data = instr.operand(kData);
  const auto rows = static_cast<double>(data.partitions());
  const LawId id = IsFull(data.dtype) ? LawId::kTensorTransposeF32 : LawId::kTensorTranspose;
  return ByRows(machine, instr, id, rows, rows, Elements(instr, kData), data.dtype);
}

}  // namespace wt::chip::cost
