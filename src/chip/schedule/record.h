// What the scheduler keeps of an instruction between its arrival from the front end and its end,
// and the edges between instructions. Records live in a ring by instruction number: a window of the
// newest 2^18.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "chip/schedule.h"

namespace wt::chip {

using Number = uint32_t;  // of an instruction within the program
inline constexpr Number kNobody = ~Number{0};
inline constexpr double kNever = 1e300;

// Queues of one core: the engines with instruction streams of their own, then DMA queues.
inline constexpr int kFirstDmaQueue = 5;
inline constexpr int kMaxQueues = kFirstDmaQueue + 48;

struct Record {
  double ready_ns = 0;  // no dependency known so far lets it start before
  double start_ns = 0, end_ns = 0, done_ns = 0;
  Number waited_for = kNobody;
  uint32_t pending = 0;       // dependencies whose times are not known yet
  uint32_t first_edge = ~0u;  // to those that wait for it
  float interval_ns = 0, latency_ns = 0;
  float weight_load_ns = 0, activity = 0;
  uint64_t origin = 0;   // number of the kernel's instruction
  uint64_t weights = 0;  // which stationary operand, as a hash; 0: none
  uint8_t queue = 0;
  Engine engine = Engine::kUnknown;
  Wait wait = Wait::kNone;
  uint8_t flags = 0;
  uint8_t table_set = 0;
  uint8_t psum_banks = 0;  // bit by bank
  Evidence evidence = Evidence::kGuessed;
  bool timed = false;  // its times are known
};

// Grows with the program up to kMaxRing.
class Ring {
 public:
  static constexpr size_t kMaxRing = size_t{1} << 18;

  Ring() : records_(kFirstSize) {}

  size_t capacity() const { return records_.size(); }
  Record& operator[](Number number) { return records_[Place(number)]; }
  const Record& operator[](Number number) const { return records_[Place(number)]; }
  // DMA instructions only: their shapes, and their times while they are under way.
  DmaShape& dma(Number number) {
    if (dmas_.empty()) dmas_.resize(records_.size());
    return dmas_[Place(number)];
  }
  Scheduled& dma_times(Number number) {
    if (dma_times_.empty()) dma_times_.resize(records_.size());
    return dma_times_[Place(number)];
  }

  // Room for `more` after the records of [oldest, next), which it keeps; false at the limit.
  bool Grow(Number oldest, Number next, size_t more) {
    const size_t size = std::min(kMaxRing, std::bit_ceil(next - oldest + more));
    if (size <= records_.size()) return false;
    GrowOne(records_, oldest, next, size);
    if (!dmas_.empty()) GrowOne(dmas_, oldest, next, size);
    if (!dma_times_.empty()) GrowOne(dma_times_, oldest, next, size);
    return true;
  }

 private:
  static constexpr size_t kFirstSize = 256;

  size_t Place(Number number) const { return number & (records_.size() - 1); }
  template <class T>
  static void GrowOne(std::vector<T>& ring, Number oldest, Number next, size_t size) {
    std::vector<T> larger(size);
    for (Number number = oldest; number != next; ++number) {
      larger[number & (larger.size() - 1)] = ring[number & (ring.size() - 1)];
    }
    ring.swap(larger);
  }

  std::vector<Record> records_;
  std::vector<DmaShape> dmas_;
  std::vector<Scheduled> dma_times_;
};

// `to` may not start before `from` has ended (at_issue: before it has started).
struct Edge {
  Number to = kNobody;
  uint32_t next = ~0u;
  Wait wait = Wait::kData;
  bool at_issue = false;
};

// When `to` may start as far as `from` goes, whose times are known. Semaphores take time between
// engines; DMA's own notification is part of its done_ns.
inline double EdgeTime(const Record& from, const Record& to, bool at_issue, double semaphore_ns) {
  if (at_issue) return from.start_ns;
  return from.queue == to.queue || from.engine == Engine::kDma ? from.done_ns
                                                               : from.done_ns + semaphore_ns;
}

// Tells `to` that `from` lets it start at `time`.
inline void Hold(Record& to, Number from, double time, Wait wait) {
  if (time <= to.ready_ns) return;
  to.ready_ns = time;
  to.waited_for = from;
  to.wait = wait;
}

class EdgePool {
 public:
  void Push(uint32_t& head, Edge edge) {
    edge.next = head;
    if (free_ != ~0u) {
      head = free_;
      free_ = edges_[free_].next;
      edges_[head] = edge;
    } else {
      head = static_cast<uint32_t>(edges_.size());
      edges_.push_back(edge);
    }
  }
  // Gives each edge of the list to `visit` and frees the list.
  template <class Visit>
  void Drain(uint32_t& head, const Visit& visit) {
    while (head != ~0u) {
      const uint32_t at = head;
      const Edge edge = edges_[at];
      head = edge.next;
      edges_[at].next = free_;
      free_ = at;
      visit(edge);
    }
  }

 private:
  std::vector<Edge> edges_;
  uint32_t free_ = ~0u;
};

}  // namespace wt::chip
