// One core under the scheduler: its queues, engines, DMA and tensor-engine limit, moved on event by
// event in the order of time.
#pragma once

#include <deque>
#include <vector>

#include "chip/schedule/dma_engines.h"
#include "chip/schedule/front_end.h"
#include "chip/schedule/limiter.h"
#include "chip/schedule/lowering.h"
#include "chip/schedule/window.h"

namespace wt::chip {

class CoreClock {
 public:
  CoreClock(const Machine& machine, const Policy& policy, ScheduleSink sink);

  Status Begin(const Program& segment, bool last);
  // Takes instructions from the segment while the ring has room.
  void Refill();
  bool needs_segment() const { return front_end_.exhausted() && !last_; }
  bool drained() const { return front_end_.exhausted() && untimed_ == 0; }
  // Whether it is time for Refill: there is something to take, and enough room to be worth it.
  bool wants_refill() const;
  uint64_t next_number() const { return next_in_; }  // that the next segment begins with
  double now_ns() const { return now_ns_; }

  double next_ns() const;  // of the next event; kNever: none
  void Step();             // does what happens then

  // Pairs: an instruction stands at a meeting point since `meeting_since_ns()`, until Meet().
  bool at_meeting() const { return meeting_ != kNobody; }
  double meeting_since_ns() const { return meeting_since_ns_; }
  void Meet(double now_ns);
  void set_has_partner(bool has_partner) { has_partner_ = has_partner; }

  DmaEngines& dma() { return dma_; }
  ScheduleResult TakeResult();

 private:
  struct Queue {
    explicit Queue(Window w) : window(std::move(w)) {}
    Window window;
    double free_ns = 0;
    double check_ns = kNever;                        // when to look for something to issue
    Number last = kNobody;                           // issued
    std::deque<std::pair<double, Number>> arrivals;  // DMA: on the way to the engines
    // Of the instruction that runs:
    uint8_t psum_banks = 0;
    bool shares_port = false;
  };

  bool Fenced() const;
  bool MakeRoom();
  void Wake(Queue& queue, double now_ns);
  void Check(size_t queue, double now_ns);
  void Issue(Queue& queue, Number number, double now_ns);
  void IssueDma(Queue& queue, Number number, double now_ns);
  // When the instruction can start although ports and banks are shared.
  double PortFree(const Record& record, double now_ns) const;
  void RunTensor(Record& record, Scheduled& times);
  void RunScalar(Record& record, Scheduled& times);
  void Explain(const Record& record, const Queue& queue, double free_ns, Scheduled& times) const;
  uint64_t OriginOf(Number number) const;
  void Finish(Number number, const Scheduled& times);
  void FinishDma(const DmaEngines::Finished& finished);
  void RetireOld(double now_ns);

  const Timing timing_;
  Lowering lowering_;
  Ring ring_;
  EdgePool edges_;
  FrontEnd front_end_;
  Limiter limiter_;
  DmaEngines dma_;
  std::vector<Queue> queues_;
  ScheduleSink sink_;

  bool last_ = false;
  uint64_t next_in_ = 0;
  Number oldest_ = 0;   // in the ring
  size_t untimed_ = 0;  // in the ring, times not known
  size_t timed_since_refill_ = 0;
  Number fence_ = kNobody;  // a barrier that is not over
  double floor_ns_ = 0;     // end of the last barrier
  double now_ns_ = 0, max_done_ns_ = 0;
  Number max_done_ = kNobody;

  uint8_t table_set_ = 0;
  uint64_t weights_ = 0;
  double product_start_ns_ = 0;  // of the tensor engine's newest instruction
  bool has_partner_ = false;
  Number meeting_ = kNobody;
  double meeting_since_ns_ = 0;
  std::vector<DmaEngines::Finished> finished_;
  ScheduleResult result_;
};

}  // namespace wt::chip
