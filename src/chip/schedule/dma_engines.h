// The DMA engines of a core. A transfer is split by SBUF partition among them; each engine serves
// its queues in turn, one descriptor a turn, and each queue in order. Engines with the same work
// (most transfers use all of them alike) are simulated as one.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "chip/schedule/record.h"
#include "chip/schedule/timing.h"

namespace wt::chip {

class DmaEngines {
 public:
  struct Finished {
    Number number;
    double first_ns, last_ns;  // bytes move
  };

  DmaEngines(const Timing& timing, int num_queues);

  // A transfer's descriptors reach the engines. Requires calls of Arrive, Advance and SetPace in
  // the order of time. drain_ns > 0: the engines end what they have and rest so long before it.
  void Arrive(double now_ns, Number number, int queue, const DmaShape& shape, double drain_ns = 0);
  // When the next transfer or part of one ends; kNever: nothing moves.
  double next_ns() const { return next_ns_; }
  // Moves on to next_ns() or less and appends the transfers that have ended.
  void Advance(double now_ns, std::vector<Finished>& finished);
  // Everything takes `pace` times as long from `now_ns` on: HBM is shared.
  void SetPace(double now_ns, double pace);

  int active_engines() const;
  double busy_ns() const { return busy_ns_; }  // summed over engines
  // Any engine; that those of a load do not begin together is counted here, and nowhere else.
  double active_ns() const { return active_ns_; }
  int64_t descriptors() const { return descriptors_; }

 private:
  struct Part {
    uint32_t transfer = 0;   // index
    double descriptors = 0;  // that are left
    double descriptor_ns = 0;
  };
  // Engines with the same work.
  struct Group {
    uint32_t engines = 0;  // bit by engine
    int count = 0;
    std::vector<std::deque<Part>> queues;
    std::vector<int> active;  // queues that are not empty
    double round_ns = 0;      // one descriptor of each
    double end_ns = kNever;   // when its next part ends
  };
  struct Transfer {
    Number number = kNobody;
    int parts = 0;
    bool load = false;
    double first_ns = kNever, last_ns = 0;
  };

  struct Held {
    Number number = kNobody;
    int queue = 0;
    DmaShape shape;
    double drain_ns = 0;
  };

  void Start(Number number, int queue, const DmaShape& shape);
  void LetGo();
  void MoveTo(double now_ns);
  void Retime(Group& group);
  void Split(size_t group, uint32_t engines);
  uint32_t NewTransfer(Number number, bool load);
  void EndPart(uint32_t index, std::vector<Finished>& finished);

  const Timing timing_;
  std::vector<Group> groups_;
  std::vector<Transfer> transfers_;  // under way, and free places
  std::vector<uint32_t> free_transfers_;
  std::deque<Held> held_;  // behind one that waits for the engines to run dry
  double release_ns_ = kNever;
  double now_ns_ = 0, next_ns_ = kNever, pace_ = 1;
  double busy_ns_ = 0, active_ns_ = 0;
  double spread_until_ns_ = 0;  // the engines that began last are still at the newest load
  int64_t descriptors_ = 0;
};

}  // namespace wt::chip
