// Work: one thing that a run does and that takes time, as the clock is told of it.
#pragma once

#include <cstdint>
#include <string>

#include "train/ledger.h"

namespace wt::train {

struct Work {
  ChargeReason reason = ChargeReason::kOther;
  std::string program;  // hash of the StepProgram that runs; empty for none
  int64_t tokens = 0;   // of a step or an evaluation
  int64_t targets = 1;  // of a step: next tokens that the loss counts (multi-token prediction)
  bool updates_average = false;  // a step after which the running average of the weights moves
  int64_t bytes = 0;             // of a save
};

}  // namespace wt::train
