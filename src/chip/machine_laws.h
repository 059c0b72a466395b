// The names by which code asks the machine file for its numbers: every law of time and every
// constant, once. A name in data/chips/*.toml that is not here is an error, and so is one here that
// a file lacks.
#pragma once

#include <cstddef>
#include <string_view>

namespace wt::chip {

// X(kName, "engine.name"): row `name` of the table [law.engine].
#define WT_CHIP_LAWS(X)                                       \
  X(kTensorMatmul, "tensor.matmul")                           \
  X(kTensorMatmulF32, "tensor.matmul_f32")                    \
  X(kTensorMatmulDoubleRow, "tensor.matmul_double_row")       \
  X(kTensorMatmulMx, "tensor.matmul_mx")                      \
  X(kTensorTranspose, "tensor.transpose")                     \
  X(kTensorTransposeF32, "tensor.transpose_f32")              \
  X(kTensorWeightLoad, "tensor.weight_load")                  \
  X(kTensorWeightLoadF32, "tensor.weight_load_f32")           \
  X(kVectorCopyF32, "vector.copy_f32")                        \
  X(kVectorCopy16, "vector.copy_16bit")                       \
  X(kVectorCopy16Strided, "vector.copy_16bit_strided")        \
  X(kVectorCopyNarrow, "vector.copy_narrow")                  \
  X(kVectorCopyWiden, "vector.copy_widen")                    \
  X(kVectorCopyInt, "vector.copy_int")                        \
  X(kVectorCopyPsum, "vector.copy_psum")                      \
  X(kVectorCopyPsum16, "vector.copy_psum_16bit")              \
  X(kVectorTensorScalarF32, "vector.tensor_scalar_f32")       \
  X(kVectorTensorTensor, "vector.tensor_tensor")              \
  X(kVectorTensorTensor16, "vector.tensor_tensor_16bit")      \
  X(kVectorElementwise, "vector.elementwise")                 \
  X(kVectorReduce, "vector.reduce")                           \
  X(kVectorTensorScalarReduce, "vector.tensor_scalar_reduce") \
  X(kVectorBnStats, "vector.bn_stats")                        \
  X(kVectorBnAggr, "vector.bn_aggr")                          \
  X(kVectorMemset, "vector.memset")                           \
  X(kVectorMemsetZero16, "vector.memset_zero_16bit")          \
  X(kVectorReciprocal, "vector.reciprocal")                   \
  X(kVectorShuffle, "vector.shuffle")                         \
  X(kVectorCopyPredicated, "vector.copy_predicated")          \
  X(kVectorScan, "vector.scan")                               \
  X(kVectorCumulative, "vector.cumulative")                   \
  X(kVectorTranspose, "vector.transpose")                     \
  X(kVectorTransposeSwitch, "vector.transpose_switch")        \
  X(kVectorSelect, "vector.select")                           \
  X(kVectorSearch, "vector.search")                           \
  X(kVectorRandom, "vector.random")                           \
  X(kVectorExponential, "vector.exponential")                 \
  X(kVectorQuantizeMx, "vector.quantize_mx")                  \
  X(kScalarCopy, "scalar.copy")                               \
  X(kScalarCopy16, "scalar.copy_16bit")                       \
  X(kScalarCopyPsum, "scalar.copy_psum")                      \
  X(kScalarActivationCopy, "scalar.activation_copy")          \
  X(kScalarActivation, "scalar.activation")                   \
  X(kScalarSiluPsum, "scalar.silu_psum")                      \
  X(kScalarReadAccumulator, "scalar.read_accumulator")        \
  X(kGpSimdElementwise, "gpsimd.elementwise")                 \
  X(kGpSimdRsqrt, "gpsimd.rsqrt")                             \
  X(kGpSimdAffineSelect, "gpsimd.affine_select")              \
  X(kGpSimdIota, "gpsimd.iota")                               \
  X(kGpSimdMemset, "gpsimd.memset")                           \
  X(kGpSimdPartitionReduce, "gpsimd.partition_reduce")        \
  X(kGpSimdTopk, "gpsimd.topk")                               \
  X(kGpSimdLocalGather, "gpsimd.local_gather")                \
  X(kGpSimdGather, "gpsimd.gather")                           \
  X(kGpSimdIndex, "gpsimd.index")                             \
  X(kGpSimdRandom, "gpsimd.random")                           \
  X(kSyncRegisterMove, "sync.register_move")                  \
  X(kSyncRegisterMemory, "sync.register_memory")              \
  X(kSyncBarrier, "sync.barrier")

// X(kName, "table.name"): row `name` of the table [table].
#define WT_CHIP_CONSTANTS(X)                                   \
  X(kPartitions, "memory.partitions")                          \
  X(kSbufPartitionBytes, "memory.sbuf_partition_bytes")        \
  X(kSbufUsableBytes, "memory.sbuf_usable_partition_bytes")    \
  X(kPsumBanks, "memory.psum_banks")                           \
  X(kPsumBankBytes, "memory.psum_bank_bytes")                  \
  X(kSbufAlign, "memory.sbuf_min_align_bytes")                 \
  X(kPsumAlign, "memory.psum_min_align_bytes")                 \
  X(kHbmPairBytes, "memory.hbm_pair_bytes")                    \
  X(kHbmPairRate, "memory.hbm_pair_bytes_per_ns")              \
  X(kHbmCoreRate, "memory.hbm_core_bytes_per_ns")              \
  X(kMaxFreeDims, "memory.max_free_dims")                      \
  X(kMaxSbufElements, "memory.max_sbuf_elements")              \
  X(kMaxPsumElements, "memory.max_psum_elements")              \
  X(kStrideRampBegin, "memory.stride_ramp_begin_bytes")        \
  X(kStrideRampEnd, "memory.stride_ramp_end_bytes")            \
  X(kStrideRampExtra, "memory.stride_ramp_extra")              \
  X(kClockTensor, "clock.tensor")                              \
  X(kClockVector, "clock.vector")                              \
  X(kClockScalar, "clock.scalar")                              \
  X(kClockGpSimd, "clock.gpsimd")                              \
  X(kPeakTflopsBf16, "peak.tflops_bf16")                       \
  X(kMaxMoving, "tensor.max_moving")                           \
  X(kMaxStationary, "tensor.max_stationary")                   \
  X(kArrayRows, "tensor.array_rows")                           \
  X(kMinTile, "tensor.min_tile")                               \
  X(kLimiterWindow, "tensor.limiter_window_ns")                \
  X(kLimiterThreshold, "tensor.limiter_threshold")             \
  X(kLimiterSlowdown, "tensor.limiter_slowdown")               \
  X(kScanTensorSeed, "vector.scan_tensor_seed_ns")             \
  X(kBnStatsMax, "vector.bn_stats_max")                        \
  X(kVectorTransposeMax, "vector.transpose_max")               \
  X(kFastModeSharesPort, "vector.fast_mode_shares_port")       \
  X(kPsumBankExclusive, "vector.psum_bank_exclusive")          \
  X(kScalarOperandRead, "scalar.operand_read_ns")              \
  X(kTableLoad, "scalar.table_load_ns")                        \
  X(kGpSimdCores, "gpsimd.cores")                              \
  X(kGatherIndices, "gpsimd.gather_indices")                   \
  X(kLocalGatherFixed, "gpsimd.local_gather_index_cycles")     \
  X(kLocalGatherElement, "gpsimd.local_gather_element_cycles") \
  X(kTopkResult, "gpsimd.topk_result_cycles")                  \
  X(kGpSimdDmaRate, "gpsimd.dma_bytes_per_ns")                 \
  X(kDmaEngines, "dma.engines")                                \
  X(kDmaPartitionsPerEngine, "dma.partitions_per_engine")      \
  X(kDmaEngineRate, "dma.engine_bytes_per_ns")                 \
  X(kDmaDescriptorOverhead, "dma.descriptor_overhead_ns")      \
  X(kDmaMaxDescriptor, "dma.max_descriptor_bytes")             \
  X(kDmaElementBytes, "dma.min_efficient_bytes")               \
  X(kDmaSmallWriteFactor, "dma.small_write_factor")            \
  X(kDmaAlignment, "dma.alignment_bytes")                      \
  X(kDmaUnalignedStore, "dma.unaligned_store_ns")              \
  X(kDmaTransfer, "dma.transfer_ns")                           \
  X(kDmaStoreTransfer, "dma.store_transfer_ns")                \
  X(kDmaIssueHwdge, "dma.issue_hwdge_ns")                      \
  X(kDmaIssueSwdge, "dma.issue_swdge_ns")                      \
  X(kDmaIssuePrebuilt, "dma.issue_prebuilt_ns")                \
  X(kDmaLoadDispatch, "dma.load_dispatch_ns")                  \
  X(kDmaLoadPayload, "dma.load_payload_ns")                    \
  X(kDmaLoadSpread, "dma.load_spread_ns")                      \
  X(kDmaLoadNotify, "dma.load_notify_ns")                      \
  X(kDmaStoreDispatch, "dma.store_dispatch_ns")                \
  X(kDmaStorePayload, "dma.store_payload_ns")                  \
  X(kDmaStoreNotify, "dma.store_notify_ns")                    \
  X(kDmaTransposeLoadShare, "dma.transpose_load_share")        \
  X(kDmaTransposeOnChipShare, "dma.transpose_onchip_share")    \
  X(kDmaAccumulateShare, "dma.accumulate_share")               \
  X(kSemaphore, "sync.semaphore_ns")                           \
  X(kSendrecv, "core.sendrecv_ns")                             \
  X(kSendrecvBytes, "core.sendrecv_bytes")                     \
  X(kSendrecvWait, "core.sendrecv_wait_ns")                    \
  X(kEnvelope, "kernel.envelope_ns")

#define WT_CHIP_ID(id, name) id,
enum class LawId { WT_CHIP_LAWS(WT_CHIP_ID) kCount };
enum class ConstantId { WT_CHIP_CONSTANTS(WT_CHIP_ID) kCount };
#undef WT_CHIP_ID

inline constexpr size_t kNumLaws = static_cast<size_t>(LawId::kCount);
inline constexpr size_t kNumConstants = static_cast<size_t>(ConstantId::kCount);

std::string_view LawName(LawId id);            // "vector.copy_f32"
std::string_view ConstantName(ConstantId id);  // "dma.engines"

}  // namespace wt::chip
