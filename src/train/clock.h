// Clocks: how many seconds have been charged to this run? The host clock charges real elapsed time;
// a priced clock charges what the work would have cost elsewhere. Both write the ledger, and the
// loop asks nothing else about time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "train/ledger.h"

namespace wt::train {

// Where seconds come from; tests put a fake in its place.
struct TimeSource {
  std::function<double()> monotonic;       // seconds from any origin, never going back
  std::function<std::string()> wall_text;  // UTC, for people
};
// The system's monotonic clock and its UTC date.
TimeSource SystemTime();

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds charged up to this moment, those of the work in hand included.
  virtual double Charged() const = 0;
  // Books everything since the last charge under `reason`, as one row of the ledger. `program` is
  // the hash of the StepProgram that ran; empty for none.
  virtual Status Charge(ChargeReason reason, const std::string& program) = 0;
  // Makes the ledger's rows durable; called when a checkpoint is written.
  virtual Status Sync() = 0;
};

// Starts to count at `start` (on time.monotonic's scale), so that the time a process spent before
// its clock existed is charged too; a ledger that is not empty goes on from its total.
std::unique_ptr<Clock> MakeHostClock(Ledger ledger, TimeSource time, double start);

}  // namespace wt::train
