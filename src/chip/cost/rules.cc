#include "chip/cost/rules.h"

#include <algorithm>

#include "chip/cost_rules.h"

namespace wt::chip::cost {
namespace {

constexpr const char* kIssue =
    "Time that its queue needs to issue it, by who makes the descriptors; the bytes' way is "
    "scheduled (docs/ACCURACY.md).";
constexpr const char* kOnePass = "One pass over the elements of a partition.";
constexpr const char* kState = "One pass over the state words of a partition.";

using L = LawId;
using C = ConstantId;

const std::vector<LawId> kVectorCopies = {
    L::kVectorCopyF32,   L::kVectorCopy16,  L::kVectorCopy16Strided, L::kVectorCopyNarrow,
    L::kVectorCopyWiden, L::kVectorCopyInt, L::kVectorCopyPsum,      L::kVectorCopyPsum16};
const std::vector<ConstantId> kIssues = {C::kDmaIssueHwdge, C::kDmaIssueSwdge,
                                         C::kDmaIssuePrebuilt};

std::vector<LawId> With(std::vector<LawId> laws, const std::vector<LawId>& more) {
  laws.insert(laws.end(), more.begin(), more.end());
  return laws;
}

std::vector<CostRule> DataRules() {
  return {
      {"dma_copy", DmaCopy, kIssue, {}, kIssues},
      {"dma_transpose", DmaTranspose, kIssue, {}, kIssues},
      {"dma_compute", DmaCompute, kIssue, {}, {C::kDmaIssueHwdge}},
      {"tensor_copy",
       TensorCopy,
       "Elements of dst. Vector: by element types, memories and whether the innermost dimension "
       "is contiguous. Scalar: by memory and width. GpSimd: one pass.",
       With(kVectorCopies,
            {L::kScalarCopy, L::kScalarCopy16, L::kScalarCopyPsum, L::kGpSimdElementwise}),
       {}},
      {"tensor_copy_predicated",
       TensorCopyPredicated,
       "Elements of dst.",
       {L::kVectorCopyPredicated},
       {}},
      {"memset",
       Memset,
       "Elements of dst; zeros of 16 bits are faster on Vector.",
       {L::kVectorMemset, L::kVectorMemsetZero16, L::kGpSimdMemset},
       {}},
      {"nc_stream_shuffle", NcStreamShuffle, "Elements of dst.", {L::kVectorShuffle}, {}},
      {"iota", Iota, "Elements of dst.", {L::kGpSimdIota}, {}},
      {"affine_select", AffineSelect, "Elements of dst.", {L::kGpSimdAffineSelect}, {}},
      {"local_gather",
       LocalGather,
       "Cycles: indices x elements of each x (28 + 4 e) / 4 e overhead for e elements, as many at "
       "once as fit 32 bits.",
       {L::kGpSimdLocalGather},
       {C::kLocalGatherFixed, C::kLocalGatherElement}},
      {"nc_n_gather",
       NcNGather,
       "Elements of dst; the fixed part again for every gather_indices.",
       {L::kGpSimdGather},
       {C::kGatherIndices}},
      {"sequence_bounds", SequenceBounds, "Elements of segment_ids.", {L::kGpSimdIndex}, {}},
      {"nonzero_with_count", NonzeroWithCount, "Elements of src.", {L::kGpSimdIndex}, {}},
      {"topk", Topk, "Counts n, and each of the K results.", {L::kGpSimdTopk}, {C::kTopkResult}},
  };
}

std::vector<CostRule> ComputeRules() {
  return {
      {"nc_matmul",
       NcMatmul,
       "Rows of moving, by element type and mode. Beside it: the weight load, hidden behind the "
       "instruction before or elided when the weights repeat; the power limit on the array.",
       {L::kTensorMatmul, L::kTensorMatmulF32, L::kTensorMatmulDoubleRow, L::kTensorTranspose,
        L::kTensorTransposeF32, L::kTensorWeightLoad, L::kTensorWeightLoadF32},
       {C::kLimiterWindow, C::kLimiterThreshold, C::kLimiterSlowdown}},
      {"nc_matmul_mx",
       NcMatmulMx,
       "Rows of moving, as nc_matmul.",
       {L::kTensorMatmulMx, L::kTensorWeightLoad},
       {}},
      {"nc_transpose",
       NcTranspose,
       "Tensor: the data are the weights and an identity matrix moves, so it counts partitions of "
       "data. Vector: a block of 32 x 32, more between quadrants of partitions.",
       {L::kTensorTranspose, L::kTensorTransposeF32, L::kTensorWeightLoad, L::kTensorWeightLoadF32,
        L::kVectorTranspose, L::kVectorTransposeSwitch},
       {C::kVectorTransposeMax}},
      {"tensor_tensor",
       TensorTensor,
       "Elements of dst; Vector is faster with 16 bits throughout and inputs in SBUF.",
       {L::kVectorTensorTensor, L::kVectorTensorTensor16, L::kGpSimdElementwise},
       {}},
      {"tensor_scalar",
       TensorScalar,
       "Elements of dst. Vector: fp32 in SBUF has its own law, others those of tensor_copy. "
       "Scalar: a copy, and operand_read_ns for each operand that is a tensor. GpSimd: one pass, "
       "rsqrt four.",
       With({L::kVectorTensorScalarF32},
            With(kVectorCopies, {L::kScalarActivationCopy, L::kScalarCopy16, L::kScalarCopyPsum,
                                 L::kGpSimdElementwise, L::kGpSimdRsqrt})),
       {C::kScalarOperandRead}},
      {"scalar_tensor_tensor", ScalarTensorTensor, kOnePass, {L::kVectorElementwise}, {}},
      {"tensor_reduce", TensorReduce, "Elements of data, any type.", {L::kVectorReduce}, {}},
      {"tensor_partition_reduce",
       TensorPartitionReduce,
       "Elements of all partitions.",
       {L::kGpSimdPartitionReduce},
       {}},
      {"tensor_scalar_reduce",
       TensorScalarReduce,
       "Elements of data.",
       {L::kVectorTensorScalarReduce},
       {}},
      {"tensor_scalar_cumulative",
       TensorScalarCumulative,
       "Elements of src.",
       {L::kVectorCumulative},
       {}},
      {"tensor_tensor_scan",
       TensorTensorScan,
       "Elements of dst; more when initial is a tensor.",
       {L::kVectorScan},
       {C::kScanTensorSeed}},
      {"reciprocal", Reciprocal, "Elements of dst.", {L::kVectorReciprocal}, {}},
      {"bn_stats", BnStats, "Elements of data.", {L::kVectorBnStats}, {}},
      {"bn_aggr", BnAggr, "Elements of data.", {L::kVectorBnAggr}, {}},
      {"max8", Max8, "Elements of src.", {L::kVectorSearch}, {}},
      {"nc_find_index8", NcFindIndex8, "Elements of data.", {L::kVectorSearch}, {}},
      {"nc_match_replace8", NcMatchReplace8, "Elements of data.", {L::kVectorSearch}, {}},
      {"range_select", RangeSelect, "Elements of dst.", {L::kVectorSelect}, {}},
      {"select_reduce", SelectReduce, "Elements of dst.", {L::kVectorSelect}, {}},
      {"exponential", Exponential, "Elements of dst.", {L::kVectorExponential}, {}},
      {"quantize_mx", QuantizeMx, "Elements of src.", {L::kVectorQuantizeMx}, {}},
  };
}

std::vector<CostRule> OtherRules() {
  constexpr const char* kFunction =
      "Elements of data, by function and whether data are in PSUM; operand_read_ns for each bias "
      "or scale that is a tensor; read_accumulator when reduce_res is given. A function of another "
      "table set first loads it.";
  const std::vector<LawId> functions = {L::kScalarActivation, L::kScalarActivationCopy,
                                        L::kScalarCopyPsum, L::kScalarSiluPsum,
                                        L::kScalarReadAccumulator};
  const std::vector<ConstantId> reads = {C::kScalarOperandRead, C::kTableLoad};
  const std::vector<LawId> both = {L::kVectorElementwise, L::kGpSimdElementwise};
  return {
      {"activation", Activation, kFunction, functions, reads},
      {"activation_reduce", ActivationReduce, kFunction, functions, reads},
      {"activate2", Activate2, kFunction, functions, reads},
      {"rng", Rng, "Elements of dst.", {L::kVectorRandom, L::kGpSimdRandom}, {}},
      {"rand2", Rand2, "Elements of dst.", {L::kVectorRandom}, {}},
      {"dropout", Dropout, "Elements of dst.", {L::kVectorRandom}, {}},
      {"set_rng_seed", SetRngSeed, kState, both, {}},
      {"rand_set_state", RandSetState, kState, both, {}},
      {"rand_get_state", RandGetState, kState, both, {}},
      {"sendrecv",
       Sendrecv,
       "The measured message of sendrecv_bytes; longer ones at the rate of the engines that move "
       "them. Then the wait of the other core.",
       {},
       {C::kSendrecv, C::kSendrecvBytes, C::kSendrecvWait, C::kGpSimdDmaRate}},
      {"core_barrier", CoreBarrier, "Once both cores are there.", {L::kSyncBarrier}, {}},
      {"register_move", RegisterMove, "Fixed.", {L::kSyncRegisterMove}, {}},
      {"register_load", RegisterLoad, "Fixed.", {L::kSyncRegisterMemory}, {}},
      {"register_store", RegisterStore, "Fixed.", {L::kSyncRegisterMemory}, {}},
  };
}

std::vector<CostRule> AllRules() {
  std::vector<CostRule> rules = DataRules();
  for (auto& more : {ComputeRules(), OtherRules()}) {
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

}  // namespace

std::span<const CostRule> CostRules() {
  static const std::vector<CostRule> rules = AllRules();
  return rules;
}

const CostRule* FindCostRule(std::string_view instruction) {
  for (const CostRule& rule : CostRules()) {
    if (instruction == rule.instruction) return &rule;
  }
  return nullptr;
}

}  // namespace wt::chip::cost
