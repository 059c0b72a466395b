// What a schedule means for the kernel's author: where the time went, what the busiest engine
// waited for, what to change. Made by Profiler from a recorded program and its schedule; printed as
// text and JSON (profile_text.h, profile_json.h) and drawn as a Perfetto trace (trace.h).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "chip/profile/memory_use.h"
#include "chip/program.h"
#include "chip/schedule.h"

namespace wt::chip {

// Idle time of the busiest engine with one cause: it waited in `wait` for `engine`, whose work
// stands at `source`; the waiting instruction stands at `waiting_source`.
struct Stall {
  Wait wait = Wait::kNone;
  Engine waiting_for = Engine::kUnknown;
  SourceId source = 0;
  SourceId waiting_source = 0;
  double ns = 0;
  int64_t count = 0;
};

struct DmaStats {
  int64_t load_bytes = 0, store_bytes = 0, other_bytes = 0;
  int64_t transfers = 0;
  int64_t descriptors = 0;     // after splitting at the machine's largest
  int64_t reloaded_bytes = 0;  // loaded from HBM bytes that had been loaded before
  int64_t small_bytes = 0;     // moved in descriptors under the size that saturates an engine
  double average_descriptor_bytes = 0;
  int64_t bytes() const { return load_bytes + store_bytes + other_bytes; }
};

// Time by source line, on each engine: what a line costs.
struct LineCost {
  SourceId source = 0;
  std::array<double, kNumEngines> busy_ns{};
  int64_t instructions = 0;
};

struct Advice {
  std::string what;     // one or two sentences
  double gain_ns = 0;   // estimated: how the kernel's time would shrink
  SourceId source = 0;  // where; 0: the kernel as a whole
};

struct Profile {
  std::string kernel;
  std::string machine;
  std::string policy;
  double latency_ns = 0;
  double envelope_ns = 0;
  std::array<double, kNumEngines> busy_ns{};  // by Engine
  // Time in which an instruction was on its way, results that nobody can see yet included: what
  // the vendor's profiler counts as active. DMA: any engine moved bytes.
  std::array<double, kNumEngines> active_ns{};
  std::array<int64_t, kNumEngines> instructions{};
  Engine busiest = Engine::kUnknown;
  double pe_limited_ns = 0;
  double table_load_ns = 0;
  double flops = 0;  // of matrix products
  double mfu = 0;    // flops / latency / the core's bf16 peak
  double mbu = 0;    // HBM bytes moved / latency / the core's HBM bandwidth
  DmaStats dma;
  MemoryUse sbuf, psum;
  int64_t sbuf_bytes_peak = 0;  // of a partition, with the copies that renaming takes
  int psum_banks_peak = 0;
  bool oversubscribed = false;
  std::vector<Stall> stalls;    // longest first
  double idle_ns = 0;           // of the busiest engine, within the kernel's own time
  std::vector<LineCost> lines;  // by busy time of their busiest engine, longest first
  std::vector<Advice> advice;   // largest gain first
  std::array<double, kNumEvidence> evidence_share{};
  double band_low_ns = 0,
         band_high_ns = 0;  // between policies; equal to latency_ns when only one was run
  std::string band_rule;    // which rule of the policy causes the wider side
  std::shared_ptr<const SourceTable> sources;

  double share(Engine engine) const {
    return latency_ns > 0 ? busy_ns[static_cast<size_t>(engine)] / latency_ns : 0;
  }
};

}  // namespace wt::chip
