// An engine's queue: instructions in program order, of which the first few (the policy's window)
// may be picked as soon as they are ready.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "chip/schedule/record.h"

namespace wt::chip {

class Window {
 public:
  Window(const Ring* ring, int size) : ring_(ring), size_(static_cast<size_t>(std::max(size, 1))) {}

  bool empty() const { return numbers_.empty(); }
  size_t open() const { return numbers_.size(); }  // instructions that may be picked
  Number number(size_t index) const { return numbers_[index]; }

  // Appends a record of the ring. True if it may be picked from now on.
  bool Push(Number number) {
    if (numbers_.size() == size_) {
      backlog_.push_back(number);
      return false;
    }
    Open(number);
    return true;
  }

  // The record's ready time is final now. True if it may be picked.
  bool SetReady(Number number) {
    if (numbers_.empty() || number > numbers_.back()) return false;
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    ready_[static_cast<size_t>(at - numbers_.begin())] = (*ring_)[number].ready_ns;
    return true;
  }

  // Index of the oldest that is ready at `now_ns`; open() when none is, with the earliest time
  // known in `next_ns`.
  size_t Pick(double now_ns, double& next_ns) const {
    next_ns = kNever;
    for (size_t i = 0; i < ready_.size(); ++i) {
      if (ready_[i] <= now_ns) return i;
      next_ns = std::min(next_ns, ready_[i]);
    }
    return ready_.size();
  }

  void Erase(size_t index) {
    numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(index));
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
    if (backlog_.empty()) return;
    const Number next = backlog_.front();
    backlog_.pop_front();
    Open(next);
  }

 private:
  void Open(Number number) {
    const Record& record = (*ring_)[number];
    numbers_.push_back(number);
    ready_.push_back(record.pending == 0 ? record.ready_ns : kNever);
  }

  const Ring* ring_;
  size_t size_;
  std::vector<Number> numbers_;  // ascending
  std::vector<double> ready_;    // parallel; kNever: not known
  std::deque<Number> backlog_;
};

}  // namespace wt::chip
