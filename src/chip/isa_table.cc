// The instruction table: every instruction there is, in one list.
#include <algorithm>
#include <vector>

#include "chip/isa/rows.h"

namespace wt::chip {

std::span<const InstrDef* const> AllInstrs() {
  static const std::vector<const InstrDef*> instrs = {
      &isa::kDmaCopy,
      &isa::kTensorCopy,
      &isa::kMemset,
      &isa::kTensorCopyPredicated,
      &isa::kNcMatmul,
      &isa::kNcMatmulMx,
      &isa::kNcTranspose,
      &isa::kDmaTranspose,
      &isa::kTensorTensor,
      &isa::kTensorScalar,
      &isa::kTensorReduce,
      &isa::kTensorPartitionReduce,
      &isa::kTensorScalarCumulative,
      &isa::kActivation,
      &isa::kActivationReduce,
      &isa::kActivate2,
      &isa::kIota,
      &isa::kAffineSelect,
      &isa::kLocalGather,
      &isa::kNcNGather,
      &isa::kBnStats,
      &isa::kBnAggr,
      &isa::kTensorTensorScan,
      &isa::kNcStreamShuffle,
      &isa::kRng,
      &isa::kDropout,
      &isa::kSetRngSeed,
      &isa::kRandSetState,
      &isa::kRandGetState,
      &isa::kRand2,
      &isa::kExponential,
      &isa::kReciprocal,
      &isa::kMax8,
      &isa::kSequenceBounds,
      &isa::kScalarTensorTensor,
      &isa::kTensorScalarReduce,
      &isa::kCoreBarrier,
      &isa::kDmaCompute,
      &isa::kQuantizeMx,
      &isa::kRangeSelect,
      &isa::kSelectReduce,
      &isa::kSendrecv,
      &isa::kRegisterMove,
      &isa::kRegisterLoad,
      &isa::kRegisterStore,
      &isa::kNcFindIndex8,
      &isa::kNcMatchReplace8,
      &isa::kNonzeroWithCount,
      &isa::kTopk,
  };
  return instrs;
}

const InstrDef* FindInstr(std::string_view name) {
  const auto all = AllInstrs();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const InstrDef* def) { return name == def->name; });
  return found == all.end() ? nullptr : *found;
}

int ParamIndex(const InstrDef& def, std::string_view name) {
  for (size_t i = 0; i < def.params.size(); ++i) {
    if (name == def.params[i].name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace wt::chip
