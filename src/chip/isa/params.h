// Where each parameter of an instruction stands in Instr::args: one enum an instruction, in the
// order of the InstrDef's params (isa_table_test.cc holds the two together). Names are those of
// nki.isa 0.6.
#pragma once

namespace wt::chip::isa {

namespace dma_copy {
enum Param { kDst, kSrc, kPriority, kOobMode, kDgeMode, kEngine, kName };
}
namespace tensor_copy {
enum Param { kDst, kSrc, kEngine, kName };
}
namespace memset {
enum Param { kDst, kValue, kEngine, kName };
}
namespace tensor_copy_predicated {
enum Param { kDst, kSrc, kPredicate, kReversePred, kName };
}
namespace nc_matmul {
enum Param {
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
enum Param {
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
enum Param { kDst, kData, kEngine, kName };
}
namespace dma_transpose {
enum Param { kDst, kSrc, kAxes, kPriority, kDgeMode, kOobMode, kName };
}
namespace tensor_tensor {
enum Param { kDst, kData1, kData2, kOp, kEngine, kName };
}
namespace tensor_scalar {
enum Param { kDst, kData, kOp0, kOperand0, kReverse0, kOp1, kOperand1, kReverse1, kEngine, kName };
}
namespace tensor_reduce {
enum Param { kDst, kOp, kData, kAxis, kNegate, kKeepdims, kName };
}
namespace tensor_partition_reduce {
enum Param { kDst, kOp, kData, kName };
}
namespace tensor_scalar_cumulative {
enum Param { kDst, kSrc, kOp0, kOp1, kImm0, kImm1, kReduceCmd, kName };
}
namespace activation {
enum Param { kDst, kOp, kData, kBias, kScale, kReduceOp, kReduceRes, kReduceCmd, kName };
}
namespace activation_reduce {
enum Param { kDst, kOp, kData, kReduceOp, kReduceRes, kBias, kScale, kName };
}
namespace activate2 {
enum Param {
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
enum Param { kDst, kPattern, kOffset, kChannelMultiplier, kName };
}
namespace affine_select {
enum Param {
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
enum Param { kDst, kSrcBuffer, kIndex, kNumElemPerIdx, kNumValidIndices, kName };
}
namespace nc_n_gather {
enum Param { kDst, kData, kIndices, kName };
}
namespace bn_stats {
enum Param { kDst, kData, kName };
}
namespace bn_aggr {
enum Param { kDst, kData, kName };
}
namespace tensor_tensor_scan {
enum Param { kDst, kData0, kData1, kInitial, kOp0, kOp1, kReverse0, kReverse1, kName };
}
namespace nc_stream_shuffle {
enum Param { kDst, kSrc, kShuffleMask, kName };
}
namespace rng {
enum Param { kDst, kEngine, kName };
}
namespace dropout {
enum Param { kDst, kData, kProb, kName };
}
namespace set_rng_seed {
enum Param { kSrcSeeds, kName };
}
namespace rand_set_state {
enum Param { kSrcSeeds, kEngine, kName };
}
namespace rand_get_state {
enum Param { kDst, kEngine, kName };
}
namespace rand2 {
enum Param { kDst, kMin, kMax, kName };
}
namespace exponential {
enum Param { kDst, kSrc, kMaxValue, kReduceRes, kReduceCmd, kReduceInit, kName };
}
namespace reciprocal {
enum Param { kDst, kData, kName };
}
namespace max8 {
enum Param { kDst, kSrc, kName };
}
namespace sequence_bounds {
enum Param { kDst, kSegmentIds, kName };
}
namespace scalar_tensor_tensor {
enum Param { kDst, kData, kOp0, kOperand0, kOp1, kOperand1, kReverse0, kReverse1, kName };
}
namespace tensor_scalar_reduce {
enum Param {
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
enum Param { kData, kCores, kEngine, kName };
}
namespace dma_compute {
enum Param { kDst, kSrcs, kReduceOp, kScales, kUniqueIndices, kOobMode, kName };
}
namespace quantize_mx {
enum Param { kDst, kSrc, kDstScale, kName };
}
namespace range_select {
enum Param {
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
enum Param {
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
enum Param { kSrc, kDst, kSendToRank, kRecvFromRank, kPipeId, kDmaEngine, kName };
}
namespace register_move {
enum Param { kDst, kSrc };
}
namespace register_load {
enum Param { kDst, kSrc };
}
namespace register_store {
enum Param { kDst, kSrc };
}
namespace nc_find_index8 {
enum Param { kDst, kData, kVals, kName };
}
namespace nc_match_replace8 {
enum Param { kDst, kData, kVals, kImm, kDstIdx, kName };
}
namespace nonzero_with_count {
enum Param { kDst, kSrc, kIndexOffset, kPaddingVal, kName };
}
namespace topk {
enum Param { kValDst, kIdxDst, kSrc, kN, kName };
}

}  // namespace wt::chip::isa
