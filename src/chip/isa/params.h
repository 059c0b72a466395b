// Where each parameter of an instruction stands in Instr::args: one enum an instruction, in the
// order of the InstrDef's params (isa_table_test.cc holds the two together). Names are those of
// nki.isa 0.6.
#pragma once

namespace wt::chip::isa {

namespace dma_copy {
enum : int { kDst, kSrc, kPriority, kOobMode, kDgeMode, kEngine, kName };
}
namespace tensor_copy {
enum : int { kDst, kSrc, kEngine, kName };
}
namespace memset {
enum : int { kDst, kValue, kEngine, kName };
}
namespace tensor_copy_predicated {
enum : int { kDst, kSrc, kPredicate, kReversePred, kName };
}
namespace nc_matmul {
enum : int {
  kDst,
  kStationary,
  kMoving,
  kIsStationaryOnezero,
  kIsMovingOnezero,
  kIsTranspose,
  kAccumulate,
  kTilePosition,
  kTileSize,
  kPerfMode,
  kName
};
}
namespace nc_matmul_mx {
enum : int {
  kDst,
  kStationary,
  kMoving,
  kStationaryScale,
  kMovingScale,
  kTilePosition,
  kTileSize,
  kAccumulate,
  kName
};
}
namespace nc_transpose {
enum : int { kDst, kData, kEngine, kName };
}
namespace dma_transpose {
enum : int { kDst, kSrc, kAxes, kPriority, kDgeMode, kOobMode, kName };
}
namespace tensor_tensor {
enum : int { kDst, kData1, kData2, kOp, kEngine, kName };
}
namespace tensor_scalar {
enum : int { kDst, kData, kOp0, kOperand0, kReverse0, kOp1, kOperand1, kReverse1, kEngine, kName };
}
namespace tensor_reduce {
enum : int { kDst, kOp, kData, kAxis, kNegate, kKeepdims, kName };
}
namespace tensor_partition_reduce {
enum : int { kDst, kOp, kData, kName };
}
namespace tensor_scalar_cumulative {
enum : int { kDst, kSrc, kOp0, kOp1, kImm0, kImm1, kReduceCmd, kName };
}
namespace activation {
enum : int { kDst, kOp, kData, kBias, kScale, kReduceOp, kReduceRes, kReduceCmd, kName };
}
namespace activation_reduce {
enum : int { kDst, kOp, kData, kReduceOp, kReduceRes, kBias, kScale, kName };
}
namespace activate2 {
enum : int {
  kDst,
  kOp,
  kData,
  kImm0,
  kImm1,
  kOp0,
  kOp1,
  kReluParam,
  kReverse0,
  kReverse1,
  kReduceOp,
  kReduceRes,
  kReduceCmd,
  kName
};
}
namespace iota {
enum : int { kDst, kPattern, kOffset, kChannelMultiplier, kName };
}
namespace affine_select {
enum : int {
  kDst,
  kPattern,
  kChannelMultiplier,
  kOnTrueTile,
  kOnFalseValue,
  kCmpOp,
  kOffset,
  kName
};
}
namespace local_gather {
enum : int { kDst, kSrcBuffer, kIndex, kNumElemPerIdx, kNumValidIndices, kName };
}
namespace nc_n_gather {
enum : int { kDst, kData, kIndices, kName };
}
namespace bn_stats {
enum : int { kDst, kData, kName };
}
namespace bn_aggr {
enum : int { kDst, kData, kName };
}
namespace tensor_tensor_scan {
enum : int { kDst, kData0, kData1, kInitial, kOp0, kOp1, kReverse0, kReverse1, kName };
}
namespace nc_stream_shuffle {
enum : int { kDst, kSrc, kShuffleMask, kName };
}
namespace rng {
enum : int { kDst, kEngine, kName };
}
namespace dropout {
enum : int { kDst, kData, kProb, kName };
}
namespace set_rng_seed {
enum : int { kSrcSeeds, kName };
}
namespace rand_set_state {
enum : int { kSrcSeeds, kEngine, kName };
}
namespace rand_get_state {
enum : int { kDst, kEngine, kName };
}
namespace rand2 {
enum : int { kDst, kMin, kMax, kName };
}
namespace exponential {
enum : int { kDst, kSrc, kMaxValue, kReduceRes, kReduceCmd, kReduceInit, kName };
}
namespace reciprocal {
enum : int { kDst, kData, kName };
}
namespace max8 {
enum : int { kDst, kSrc, kName };
}
namespace sequence_bounds {
enum : int { kDst, kSegmentIds, kName };
}
namespace scalar_tensor_tensor {
enum : int { kDst, kData, kOp0, kOperand0, kOp1, kOperand1, kReverse0, kReverse1, kName };
}
namespace tensor_scalar_reduce {
enum : int {
  kDst,
  kData,
  kOp0,
  kOperand0,
  kReduceOp,
  kReduceRes,
  kReverse0,
  kReduceCmd,
  kReduceInit,
  kReduceResNegate,
  kName
};
}
namespace core_barrier {
enum : int { kData, kCores, kEngine, kName };
}
namespace dma_compute {
enum : int { kDst, kSrcs, kReduceOp, kScales, kUniqueIndices, kOobMode, kName };
}
namespace quantize_mx {
enum : int { kDst, kSrc, kDstScale, kName };
}
namespace range_select {
enum : int {
  kDst,
  kOnTrueTile,
  kCompOp0,
  kCompOp1,
  kBound0,
  kBound1,
  kReduceCmd,
  kReduceRes,
  kReduceOp,
  kRangeStart,
  kOnFalseValue,
  kName
};
}
namespace select_reduce {
enum : int {
  kDst,
  kPredicate,
  kOnTrue,
  kOnFalse,
  kReduceRes,
  kReduceCmd,
  kReduceOp,
  kReversePred,
  kName
};
}
namespace sendrecv {
enum : int { kSrc, kDst, kSendToRank, kRecvFromRank, kPipeId, kDmaEngine, kName };
}
namespace register_move {
enum : int { kDst, kSrc };
}
namespace register_load {
enum : int { kDst, kSrc };
}
namespace register_store {
enum : int { kDst, kSrc };
}
namespace nc_find_index8 {
enum : int { kDst, kData, kVals, kName };
}
namespace nc_match_replace8 {
enum : int { kDst, kData, kVals, kImm, kDstIdx, kName };
}
namespace nonzero_with_count {
enum : int { kDst, kSrc, kIndexOffset, kPaddingVal, kName };
}
namespace topk {
enum : int { kValDst, kIdxDst, kSrc, kN, kName };
}

}  // namespace wt::chip::isa
