// When everything happens: an event-driven schedule of a recorded program on one core (two, sharing
// HBM, for LNC2). In-order or windowed engine queues, semaphores for data hazards, DMA engines,
// buffers by live range, the PE power ramp, ACT table loads. Same input, same output, whatever the
// machine.
#pragma once

#include <functional>
#include <vector>

#include "chip/machine.h"
#include "chip/policy.h"
#include "chip/program.h"

namespace wt::chip {

// Why an instruction could not start before it did.
enum class Wait : uint8_t {
  kNone,    // nothing: it started as soon as its engine was free
  kData,    // an operand was still being made (read after write)
  kReuse,   // its output buffer was still being read or written (write after read, after write)
  kBuffer,  // no free buffer: waited for another tile to die
  kQueue,   // order in its queue
  kDma,     // DMA issue or engines busy
  kTable,   // ACT table load
  kOrder,   // no_reorder or a declared edge
  kCore,    // the other core (barrier, sendrecv)
};
const char* WaitName(Wait wait);

struct Scheduled {
  double issue_ns = 0;  // left its queue
  double start_ns = 0;  // began on its engine (DMA: first byte)
  double end_ns = 0;    // engine free again (DMA: last byte)
  double done_ns = 0;   // results visible to others
  Engine engine = Engine::kUnknown;
  uint8_t queue = 0;  // DMA queue
  Wait wait = Wait::kNone;
  uint32_t waited_for = 0;  // index of the instruction that released it
  double pe_slowdown = 1;   // by the power ramp
  double table_load_ns = 0;
};

struct ScheduleResult {
  double latency_ns = 0;  // of the kernel, envelope included
  double envelope_ns = 0;
  std::array<double, kNumEngines> busy_ns{};  // by Engine; DMA: share-weighted over its engines
  double dma_active_ns = 0;                   // time in which any DMA engine moved bytes
  double pe_limited_ns = 0;                   // PE time under the power limit
  double table_load_ns = 0;
  int64_t sbuf_bytes_peak = 0;  // highest per-partition use
  int psum_banks_peak = 0;
  bool oversubscribed = false;  // capacity was exceeded: the time is not trustworthy
  std::array<double, kNumEvidence> evidence_ns{};
};

// Called once an instruction's times are final, in issue order.
using ScheduleSink = std::function<void(size_t index, const Scheduled&)>;

Result<ScheduleResult> Schedule(const Machine& machine, const Policy& policy,
                                const Program& program, const ScheduleSink& sink = nullptr);

}  // namespace wt::chip
