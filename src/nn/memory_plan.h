// The static memory plan: where each activation lives in one arena, decided once from the program's
// order. Values whose lives do not overlap share bytes; an op that may work in place overwrites its
// dying input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/step_program.h"

namespace wt::nn {

struct MemoryPlan {
  static constexpr int64_t kAlignment = 64;

  std::vector<int64_t> offset;  // per value, in bytes into the arena; -1: not in the arena
  int64_t arena_bytes = 0;      // the high-water mark
  size_t peak_node = 0;         // a node at which the live bytes are largest
  int64_t peak_live_bytes = 0;  // the sum of live values there: the lower bound of any plan
};

// Requires nodes in the order in which they run.
MemoryPlan PlanMemory(const StepProgram& program);

}  // namespace wt::nn
