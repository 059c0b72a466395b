// The scheduler's figures, taken once from the machine file and the policy.
#pragma once

#include "chip/machine.h"
#include "chip/policy.h"

namespace wt::chip {

struct Timing {
  double semaphore_ns = 0;  // from one engine to another
  double table_load_ns = 0;
  double envelope_ns = 0;
  bool fast_mode_shares_port = false, psum_bank_exclusive = false;

  // The tensor engine's power limit: at the end of each window of the machine's clock the array is
  // limited for the next one if its activity was under the threshold.
  double limiter_window_ns = 0, limiter_threshold = 0, limiter_slowdown = 1;
  double limiter_phase = 1;  // of a window, until the first one ends

  int dma_engines = 1;
  int dma_partitions_per_engine = 1;
  double dma_engine_bytes_per_ns = 1;
  double dma_descriptor_ns = 0;
  double dma_max_descriptor_bytes = 1;
  double dma_transfer_ns = 0, dma_store_transfer_ns = 0;  // of each transfer and engine
  double dma_small_bytes = 0, dma_small_write_factor = 1;
  double dma_unaligned_store_ns = 0;  // of a row
  double dma_issue_ns = -1;           // of a transfer and queue; negative: each its own
  double dma_load_latency_ns = 0, dma_load_notify_ns = 0;  // issue to payload, payload to done
  double dma_load_spread_ns = 0;                           // between its engines' starts
  double dma_store_latency_ns = 0, dma_store_notify_ns = 0;
  double dma_transpose_load_share = 1, dma_transpose_onchip_share = 1, dma_accumulate_share = 1;
  double hbm_pair_bytes_per_ns = 1;
  double loop_bubble_ns = 0;

  int64_t sbuf_bytes = 0, psum_bytes = 0, psum_bank_bytes = 0;
};

Timing MakeTiming(const Machine& machine, const Policy& policy);

}  // namespace wt::chip
