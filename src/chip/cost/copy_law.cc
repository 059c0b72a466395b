#include "chip/cost/copy_law.h"

namespace wt::chip::cost {
namespace {

bool IsWholeWord(DType dtype) { return dtype == DType::kI32 || dtype == DType::kU32; }

bool Contiguous(const AccessPattern& pattern) { return InnermostStep(pattern) == 1; }

LawId FromOrToPsum(const AccessPattern& src, const AccessPattern& dst) {
  const bool fast = Is16Bit(src) && Is16Bit(dst) && Contiguous(src) && Contiguous(dst) &&
                    InPsum(src) != InPsum(dst);
  return fast ? LawId::kVectorCopyPsum16 : LawId::kVectorCopyPsum;
}

}  // namespace

LawId VectorCopyLaw(const AccessPattern& src, const AccessPattern& dst) {
  if (InPsum(src) || InPsum(dst)) return FromOrToPsum(src, dst);
  if (Is16Bit(src) && Is16Bit(dst)) {
    const bool contiguous = Contiguous(src) && Contiguous(dst);
    return contiguous ? LawId::kVectorCopy16 : LawId::kVectorCopy16Strided;
  }
  if (IsWholeWord(src.dtype) || IsWholeWord(dst.dtype)) return LawId::kVectorCopyInt;
  const int64_t from = DTypeBytes(src.dtype), to = DTypeBytes(dst.dtype);
  if (from == to) return LawId::kVectorCopyF32;
  return from > to ? LawId::kVectorCopyNarrow : LawId::kVectorCopyWiden;
}

Cost VectorCopy(const Machine& machine, const Instr& instr, const AccessPattern& src,
                const AccessPattern& dst) {
  const LawId id = VectorCopyLaw(src, dst);
  Cost cost = ByLaw(machine, instr, id, static_cast<double>(dst.free_elements()));
  cost.shares_port = id == LawId::kVectorCopy16 || id == LawId::kVectorCopy16Strided ||
                     id == LawId::kVectorCopyPsum16;
  return cost;
}

LawId ScalarCopyLaw(const AccessPattern& src, const AccessPattern& dst) {
  if (InPsum(src) || InPsum(dst)) return LawId::kScalarCopyPsum;
  return Is16Bit(src) && Is16Bit(dst) ? LawId::kScalarCopy16 : LawId::kScalarCopy;
}

LawId ScalarTensorScalarLaw(const AccessPattern& src, const AccessPattern& dst) {
  const LawId copy = ScalarCopyLaw(src, dst);
  return copy == LawId::kScalarCopy ? LawId::kScalarActivationCopy : copy;
}

void AddScalarOperand(const Machine& machine, int count, Cost* cost) {
  const double read = count * machine.constant(ConstantId::kScalarOperandRead);
  cost->interval_ns += read;
  cost->latency_ns += read;
}

}  // namespace wt::chip::cost
