#include "chip/schedule/timing.h"

namespace wt::chip {

namespace {

void TakeDma(const Machine& machine, const Policy& policy, Timing& timing) {
  const auto number = [&](ConstantId id) { return machine.constant(id); };
  timing.dma_engines = static_cast<int>(number(ConstantId::kDmaEngines));
  timing.dma_partitions_per_engine = static_cast<int>(number(ConstantId::kDmaPartitionsPerEngine));
  timing.dma_engine_bytes_per_ns = number(ConstantId::kDmaEngineRate);
  timing.dma_descriptor_ns = number(ConstantId::kDmaDescriptorOverhead);
  timing.dma_max_descriptor_bytes = number(ConstantId::kDmaMaxDescriptor);
  timing.dma_transfer_ns = number(ConstantId::kDmaTransfer);
  timing.dma_store_transfer_ns = number(ConstantId::kDmaStoreTransfer);
  timing.dma_small_bytes = number(ConstantId::kDmaElementBytes);
  timing.dma_small_write_factor = number(ConstantId::kDmaSmallWriteFactor);
  timing.dma_unaligned_store_ns = number(ConstantId::kDmaUnalignedStore);
  timing.loop_bubble_ns = policy.loop_bubble_ns;
  timing.dma_issue_ns = policy.dma_issue_ns;
  timing.dma_load_latency_ns =
      number(ConstantId::kDmaLoadDispatch) + number(ConstantId::kDmaLoadPayload);
  timing.dma_load_spread_ns = number(ConstantId::kDmaLoadSpread);
  timing.dma_load_notify_ns = number(ConstantId::kDmaLoadNotify);
  timing.dma_store_latency_ns =
      number(ConstantId::kDmaStoreDispatch) + number(ConstantId::kDmaStorePayload);
  timing.dma_store_notify_ns = number(ConstantId::kDmaStoreNotify);
  timing.dma_transpose_load_share = number(ConstantId::kDmaTransposeLoadShare);
  timing.dma_transpose_onchip_share = number(ConstantId::kDmaTransposeOnChipShare);
  timing.dma_accumulate_share = number(ConstantId::kDmaAccumulateShare);
}

}  // namespace

Timing MakeTiming(const Machine& machine, const Policy& policy) {
  const auto number = [&](ConstantId id) { return machine.constant(id); };
  Timing timing;
  timing.semaphore_ns = number(ConstantId::kSemaphore);
  timing.table_load_ns = number(ConstantId::kTableLoad);
  timing.envelope_ns = policy.envelope_ns >= 0 ? policy.envelope_ns : number(ConstantId::kEnvelope);
  timing.fast_mode_shares_port = number(ConstantId::kFastModeSharesPort) != 0;
  timing.psum_bank_exclusive = number(ConstantId::kPsumBankExclusive) != 0;
  timing.limiter_window_ns = number(ConstantId::kLimiterWindow);
  timing.limiter_threshold = number(ConstantId::kLimiterThreshold);
  timing.limiter_slowdown = number(ConstantId::kLimiterSlowdown);
  timing.limiter_phase = policy.limiter_phase;
  timing.hbm_pair_bytes_per_ns = number(ConstantId::kHbmPairRate);
  timing.sbuf_bytes = machine.sbuf_usable_partition_bytes;
  timing.psum_bank_bytes = machine.psum_bank_bytes;
  timing.psum_bytes = machine.psum_banks * machine.psum_bank_bytes;
  TakeDma(machine, policy, timing);
  return timing;
}

}  // namespace wt::chip
