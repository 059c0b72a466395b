// Idle gaps of one engine and their causes.
#pragma once

#include <vector>

#include "chip/profile/profile.h"

namespace wt::chip {

// Follows the instructions of one engine in the order of their start and adds up the gaps between
// them by cause. Instructions may come in any order; Finish sorts.
class StallCollector {
 public:
  // Keeps what it needs of every instruction: 32 bytes each.
  void Add(size_t index, const Scheduled& scheduled);
  // Gaps of `engine` from 0 to `end_ns`, longest total first. `idle_ns` receives their sum.
  std::vector<Stall> Finish(const Program& program, Engine engine, double end_ns,
                            double* idle_ns) const;

 private:
  struct Record {
    double start_ns, end_ns;
    uint64_t waited_for;
    Engine engine;
    Wait wait;
  };
  std::vector<Record> records_;  // by instruction index
};

}  // namespace wt::chip
