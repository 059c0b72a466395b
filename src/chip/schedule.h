// When everything happens: an event-driven schedule of a recorded program on one core (two, sharing
// HBM, for LNC2). In-order or windowed engine queues, semaphores for data hazards, DMA engines,
// buffers by live range, the PE power ramp, ACT table loads. Same input, same output, whatever the
// machine.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "chip/machine.h"
#include "chip/policy.h"
#include "chip/program.h"

namespace wt::chip {

// Why an instruction could not start before it did.
enum class Wait : uint8_t {
  kNone,    // nothing: it started as soon as its engine was free
  kData,    // an operand was still being made (read after write)
  kReuse,   // its output was still being read or written (write after read, after write)
  kBuffer,  // the same of the tile that had its buffer before: no other buffer was free
  kQueue,   // order in its queue
  kDma,     // DMA issue or engines busy
  kTable,   // ACT table load
  kPort,    // a memory port or PSUM bank in use by another engine
  kOrder,   // no_reorder, a declared edge or a barrier
  kCore,    // the other core (barrier, sendrecv)
};
inline constexpr int kNumWaits = 10;
const char* WaitName(Wait wait);

struct Scheduled {
  double issue_ns = 0;  // left its queue
  double start_ns = 0;  // began on its engine (DMA: first byte)
  double end_ns = 0;    // engine free again (DMA: last byte)
  double done_ns = 0;   // results visible to others
  double wait_ns = 0;   // how long its engine (DMA: queue) stood idle before it
  Engine engine = Engine::kUnknown;
  uint8_t queue = 0;               // DMA queue
  Wait wait = Wait::kNone;         // what the idle time was for
  uint64_t waited_for = kNoInstr;  // number of the instruction that ended it
  double pe_slowdown = 1;          // by the power ramp
  double table_load_ns = 0;
};

struct ScheduleResult {
  double latency_ns = 0;  // of the kernel, envelope included
  double envelope_ns = 0;
  uint64_t num_instrs = 0;
  std::array<double, kNumEngines> busy_ns{};  // by Engine; DMA: share-weighted over its engines
  double dma_active_ns = 0;                   // time in which any DMA engine moved bytes
  double pe_limited_ns = 0;                   // PE time under the power limit
  double table_load_ns = 0;
  int64_t load_bytes = 0, store_bytes = 0;  // through DMA, from and to HBM
  int64_t num_descriptors = 0;
  int64_t sbuf_bytes_peak = 0;    // highest per-partition use, of live tiles
  int64_t sbuf_bytes_placed = 0;  // likewise with the copies that renaming takes
  int psum_banks_peak = 0;
  bool oversubscribed = false;  // capacity was exceeded: the time is not trustworthy
  std::array<double, kNumEvidence> evidence_ns{};
};

// Called once an instruction's times are final, in the order of time at which they became so.
// Instructions that the policy merges are called with the number of the first, products that it
// adds with that of their consumer: see LowerProgram.
using ScheduleSink = std::function<void(uint64_t number, const Scheduled&)>;

// A schedule of a program that comes in segments. Memory is bounded: what is kept is a window of
// the newest instructions (2^18 of them), the tensors alive, and one record a declaration.
class Scheduler {
 public:
  // `machine` must outlive it.
  Scheduler(const Machine& machine, const Policy& policy, ScheduleSink sink = nullptr);
  ~Scheduler();
  // Takes the next segment; it may go when the call returns.
  Status Add(const Program& segment);
  Result<ScheduleResult> Finish();

 private:
  std::unique_ptr<class Simulation> simulation_;
};

// A whole program. Better than segments in one point: all last uses are known.
Result<ScheduleResult> Schedule(const Machine& machine, const Policy& policy,
                                const Program& program, const ScheduleSink& sink = nullptr);

// The program as the policy's compiler has it before it schedules: narrow loops merged, repeated
// partitions made by products. Schedule does so itself; who wants its sink's numbers and every
// instruction that runs, lowers first and schedules the result, which stays as it is.
Program LowerProgram(const Machine& machine, const Policy& policy, const Program& program);

// The two cores of a logical core: they share HBM bandwidth and meet at barriers.
Result<std::array<ScheduleResult, 2>> SchedulePair(const Machine& machine, const Policy& policy,
                                                   const std::array<const Program*, 2>& programs,
                                                   const std::array<ScheduleSink, 2>& sinks = {});

}  // namespace wt::chip
