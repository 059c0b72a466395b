#include "chip/schedule/core_clock.h"

namespace wt::chip {

namespace {

constexpr size_t kRefillBatch = 4096;  // instructions that end between two looks for room

bool Conflicts(const Record& record, uint8_t psum_banks) {
  return (record.psum_banks & psum_banks) != 0;
}

}  // namespace

CoreClock::CoreClock(const Machine& machine, const Policy& policy, ScheduleSink sink)
    : timing_(MakeTiming(machine, policy)),
      lowering_(machine, policy),
      front_end_(timing_, policy, &ring_, &edges_),
      limiter_(timing_),
      dma_(timing_, front_end_.num_queues()),
      sink_(std::move(sink)) {
  for (int i = 0; i < front_end_.num_queues(); ++i) {
    queues_.emplace_back(Window(&ring_, i < kFirstDmaQueue ? policy.window : policy.dma_window));
  }
}

Status CoreClock::Begin(const Program& segment, bool last) {
  last_ = last;
  WT_RETURN_IF_ERROR(CheckProgram(segment));
  if (segment.first != next_in_) {
    return Error(Code::kInvalidArgument,
                 "schedule: a segment begins with instruction {}; expected {}", segment.first,
                 next_in_);
  }
  next_in_ += segment.instrs.size();
  if (!lowering_.active()) return front_end_.Begin(segment, nullptr, last);
  const Program& lowered = lowering_.Apply(segment);
  return front_end_.Begin(lowered, &lowering_.origins(), last);
}

bool CoreClock::Fenced() const {
  if (fence_ != kNobody) return true;
  return (front_end_.Peek().flags & kBarrier) != 0 && untimed_ > 0;
}

// Whether the next instruction can come in.
bool CoreClock::MakeRoom() {
  if (front_end_.exhausted() || Fenced()) return false;
  const Number next = front_end_.next_number();
  return next - oldest_ < ring_.capacity() || ring_.Grow(oldest_, next, front_end_.left());
}

bool CoreClock::wants_refill() const {
  if (front_end_.exhausted() || Fenced()) return false;
  const size_t held = front_end_.next_number() - oldest_;
  return timed_since_refill_ >= kRefillBatch || held < Ring::kMaxRing || next_ns() >= kNever;
}

void CoreClock::Refill() {
  RetireOld(next_ns() < kNever ? now_ns_ : max_done_ns_);
  timed_since_refill_ = 0;
  while (MakeRoom()) {
    const bool barrier = front_end_.Peek().flags & kBarrier;
    const Number number = front_end_.Take(oldest_, floor_ns_);
    Record& record = ring_[number];
    if (barrier) {
      fence_ = number;
      if (max_done_ != kNobody) Hold(record, max_done_, max_done_ns_, Wait::kOrder);
    }
    ++untimed_;
    Queue& queue = queues_[record.queue];
    if (queue.window.Push(number) && record.pending == 0) {
      Wake(queue, std::max(record.ready_ns, now_ns_));
    }
  }
}

void CoreClock::RetireOld(double now_ns) {
  while (oldest_ < front_end_.next_number()) {
    const Record& record = ring_[oldest_];
    if (!record.timed || record.done_ns > now_ns) break;
    ++oldest_;
  }
}

void CoreClock::Wake(Queue& queue, double now_ns) {
  queue.check_ns = std::min(queue.check_ns, std::max(now_ns, queue.free_ns));
}

double CoreClock::next_ns() const {
  double next = dma_.next_ns();
  for (const Queue& queue : queues_) {
    next = std::min(next, queue.check_ns);
    if (!queue.arrivals.empty()) next = std::min(next, queue.arrivals.front().first);
  }
  return next;
}

void CoreClock::Step() {
  now_ns_ = next_ns();
  if (dma_.next_ns() <= now_ns_) {
    finished_.clear();
    dma_.Advance(now_ns_, finished_);
    for (const auto& finished : finished_) FinishDma(finished);
  }
  for (size_t i = kFirstDmaQueue; i < queues_.size(); ++i) {
    auto& arrivals = queues_[i].arrivals;
    for (; !arrivals.empty() && arrivals.front().first <= now_ns_; arrivals.pop_front()) {
      const Number number = arrivals.front().second;
      dma_.Arrive(now_ns_, number, static_cast<int>(i), ring_.dma(number),
                  ring_[number].flags & kDrains ? timing_.loop_bubble_ns : 0);
    }
  }
  for (size_t i = 0; i < queues_.size(); ++i) {
    while (queues_[i].check_ns <= now_ns_) Check(i, now_ns_);
  }
}

void CoreClock::Check(size_t index, double now_ns) {
  Queue& queue = queues_[index];
  double next_ns = kNever;
  const size_t picked = queue.window.Pick(now_ns, next_ns);
  queue.check_ns = kNever;
  if (picked == queue.window.open()) {
    if (next_ns < kNever) Wake(queue, next_ns);
    return;
  }
  const Number number = queue.window.number(picked);
  const Record& record = ring_[number];
  if ((record.flags & kMeets) && has_partner_ && meeting_ != number) {
    meeting_ = number;  // the queue stands until Meet
    meeting_since_ns_ = now_ns;
    return;
  }
  const double start_ns = PortFree(record, now_ns);
  if (start_ns > now_ns) {
    queue.check_ns = start_ns;
    return;
  }
  queue.window.Erase(picked);
  if (index < kFirstDmaQueue) {
    Issue(queue, number, now_ns);
  } else {
    IssueDma(queue, number, now_ns);
  }
  if (!queue.window.empty()) Wake(queue, queue.free_ns);
}

void CoreClock::Meet(double now_ns) {
  const Number number = meeting_;
  Record& record = ring_[number];
  if (now_ns > record.ready_ns) Hold(record, kNobody, now_ns, Wait::kCore);
  Queue& queue = queues_[record.queue];
  queue.window.SetReady(number);
  Wake(queue, now_ns);
}

double CoreClock::PortFree(const Record& record, double now_ns) const {
  double free_ns = now_ns;
  const auto wait_for = [&](Engine engine, bool conflict) {
    const Queue& other = queues_[static_cast<size_t>(engine)];
    if (conflict) free_ns = std::max(free_ns, other.free_ns);
  };
  const Queue& vector = queues_[static_cast<size_t>(Engine::kVector)];
  const Queue& scalar = queues_[static_cast<size_t>(Engine::kScalar)];
  if (record.engine == Engine::kVector) {
    wait_for(Engine::kGpSimd, timing_.fast_mode_shares_port && (record.flags & kSharesPort));
    wait_for(Engine::kScalar, timing_.psum_bank_exclusive && Conflicts(record, scalar.psum_banks));
  } else if (record.engine == Engine::kScalar) {
    wait_for(Engine::kVector, timing_.psum_bank_exclusive && Conflicts(record, vector.psum_banks));
  } else if (record.engine == Engine::kGpSimd) {
    wait_for(Engine::kVector, timing_.fast_mode_shares_port && vector.shares_port);
  }
  return free_ns;
}

void CoreClock::Issue(Queue& queue, Number number, double now_ns) {
  Record& record = ring_[number];
  const double free_ns = queue.free_ns;
  Scheduled times;
  times.engine = record.engine;
  times.issue_ns = times.start_ns = now_ns;
  if (record.engine == Engine::kTensor) {
    RunTensor(record, times);
  } else {
    if (record.engine == Engine::kScalar) RunScalar(record, times);
    times.end_ns = times.start_ns + record.interval_ns;
    times.done_ns = times.start_ns + std::max(record.latency_ns, record.interval_ns);
  }
  Explain(record, queue, free_ns, times);
  queue.free_ns = times.end_ns;
  queue.last = number;
  queue.psum_banks = record.psum_banks;
  queue.shares_port = record.flags & kSharesPort;
  const double busy_ns = times.end_ns - times.start_ns + times.table_load_ns;
  result_.busy_ns[static_cast<size_t>(record.engine)] += busy_ns;
  result_.evidence_ns[static_cast<size_t>(record.evidence)] += busy_ns;
  Finish(number, times);
}

void CoreClock::RunTensor(Record& record, Scheduled& times) {
  if (record.weights != 0 && record.weights != weights_) {
    // The array holds a second set of weights, which load behind the product before.
    const double load_ns = std::max(record.ready_ns, product_start_ns_) + record.weight_load_ns;
    times.start_ns = std::max(times.start_ns, load_ns);
  }
  weights_ = record.weights;
  product_start_ns_ = times.start_ns;
  times.end_ns = limiter_.Run(times.start_ns, record.interval_ns, record.activity);
  if (record.interval_ns > 0) {
    times.pe_slowdown = (times.end_ns - times.start_ns) / record.interval_ns;
  }
  times.done_ns = times.end_ns + std::max(0.0f, record.latency_ns - record.interval_ns);
}

void CoreClock::RunScalar(Record& record, Scheduled& times) {
  if (record.table_set == 0 || record.table_set == table_set_) return;
  table_set_ = record.table_set;
  times.table_load_ns = timing_.table_load_ns;
  times.start_ns += timing_.table_load_ns;
  result_.table_load_ns += timing_.table_load_ns;
}

uint64_t CoreClock::OriginOf(Number number) const {
  return number == kNobody ? kNoInstr : ring_[number].origin;
}

// What the idle time before the instruction was for.
void CoreClock::Explain(const Record& record, const Queue& queue, double free_ns,
                        Scheduled& times) const {
  const double begin_ns = times.start_ns - times.table_load_ns;
  times.wait_ns = begin_ns - free_ns;
  if (times.wait_ns <= 0) {
    if (times.table_load_ns > 0) times.wait = Wait::kTable;
    return;
  }
  if (record.ready_ns > free_ns) {
    times.wait = record.wait;
    times.waited_for = OriginOf(record.waited_for);
    return;
  }
  const bool port =
      record.psum_banks != 0 || (record.flags & kSharesPort) || record.engine == Engine::kGpSimd;
  times.wait = port ? Wait::kPort : Wait::kQueue;
  if (!port && queue.last != kNobody) times.waited_for = OriginOf(queue.last);
}

void CoreClock::IssueDma(Queue& queue, Number number, double now_ns) {
  const Record& record = ring_[number];
  const DmaShape& shape = ring_.dma(number);
  Scheduled& times = ring_.dma_times(number);
  times = Scheduled{};
  times.engine = Engine::kDma;
  times.queue = static_cast<uint8_t>(record.queue - kFirstDmaQueue);
  times.issue_ns = now_ns;
  times.start_ns = now_ns;
  Explain(record, queue, queue.free_ns, times);
  if (times.wait_ns <= 0 && queue.last != kNobody) {
    times.wait = Wait::kDma;
    times.waited_for = OriginOf(queue.last);
  }
  queue.free_ns = now_ns + (timing_.dma_issue_ns < 0 ? record.interval_ns : timing_.dma_issue_ns);
  queue.last = number;
  const double way_ns = shape.store ? timing_.dma_store_latency_ns : timing_.dma_load_latency_ns;
  queue.arrivals.emplace_back(queue.free_ns + way_ns, number);
  (shape.store ? result_.store_bytes : result_.load_bytes) +=
      shape.load || shape.store ? shape.bytes : 0;
}

void CoreClock::FinishDma(const DmaEngines::Finished& finished) {
  Scheduled& times = ring_.dma_times(finished.number);
  const DmaShape& shape = ring_.dma(finished.number);
  times.start_ns = finished.first_ns;
  times.end_ns = finished.last_ns;
  times.done_ns =
      finished.last_ns + (shape.store ? timing_.dma_store_notify_ns : timing_.dma_load_notify_ns);
  result_.evidence_ns[static_cast<size_t>(ring_[finished.number].evidence)] +=
      times.end_ns - times.start_ns;
  Finish(finished.number, times);
}

void CoreClock::Finish(Number number, const Scheduled& times) {
  Record& record = ring_[number];
  record.start_ns = times.engine == Engine::kDma ? times.issue_ns : times.start_ns;
  record.end_ns = times.end_ns;
  record.done_ns = times.done_ns;
  record.timed = true;
  --untimed_;
  ++timed_since_refill_;
  if (times.done_ns > max_done_ns_) {
    max_done_ns_ = times.done_ns;
    max_done_ = number;
  }
  if (number == fence_) {
    fence_ = kNobody;
    floor_ns_ = times.done_ns;
  }
  if (number == meeting_) meeting_ = kNobody;
  edges_.Drain(record.first_edge, [&](const Edge& edge) {
    Record& waiter = ring_[edge.to];
    Hold(waiter, number, EdgeTime(record, waiter, edge.at_issue, timing_.semaphore_ns), edge.wait);
    if (--waiter.pending > 0) return;
    Queue& queue = queues_[waiter.queue];
    if (queue.window.SetReady(edge.to)) Wake(queue, std::max(waiter.ready_ns, now_ns_));
  });
  ++result_.num_instrs;
  if (sink_) sink_(record.origin, times);
}

ScheduleResult CoreClock::TakeResult() {
  result_.envelope_ns = timing_.envelope_ns;
  result_.latency_ns = max_done_ns_ + timing_.envelope_ns;
  result_.busy_ns[static_cast<size_t>(Engine::kDma)] = dma_.busy_ns() / timing_.dma_engines;
  result_.dma_active_ns = dma_.active_ns();
  result_.num_descriptors = dma_.descriptors();
  result_.pe_limited_ns = limiter_.limited_ns();
  result_.sbuf_bytes_peak = front_end_.sbuf().live_peak();
  result_.sbuf_bytes_placed = front_end_.sbuf().placed_peak();
  const int64_t bank = std::max<int64_t>(timing_.psum_bank_bytes, 1);
  result_.psum_banks_peak = static_cast<int>((front_end_.psum().live_peak() + bank - 1) / bank);
  result_.oversubscribed = front_end_.sbuf().oversubscribed() || front_end_.psum().oversubscribed();
  return result_;
}

}  // namespace wt::chip
