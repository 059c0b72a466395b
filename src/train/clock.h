// Clocks: how many seconds have been charged to this run? The host clock charges real elapsed time;
// a priced clock charges what the work would have cost elsewhere. Both write the ledger, and the
// loop asks nothing else about time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "train/ledger.h"
#include "train/price_list.h"
#include "train/rules.h"
#include "train/work.h"

namespace wt::train {

// Where seconds come from; tests put a fake in its place.
struct TimeSource {
  std::function<double()> monotonic;       // seconds from any origin, never going back
  std::function<std::string()> wall_text;  // UTC, for people
};
// The system's monotonic clock and its UTC date.
TimeSource SystemTime();

struct Expected {
  double seconds = 0;  // of the work itself
  double compile = 0;  // of what is compiled for it first
  double counted = 0;  // of both, what counts against the budget
};

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds charged up to this moment, those of the work in hand included.
  virtual double Charged() const = 0;
  // Books the work just done, as one row of the ledger (two, when something was compiled for it).
  virtual Status Charge(const Work& work) = 0;
  // In place of the first charge when a run goes on from a checkpoint: `startup` is what this
  // process did to come there, `save` what the checkpoint was.
  virtual Status Resume(const Work& startup, const Work& save) = 0;
  // What `work` will be charged if it comes next; nothing where only time tells.
  virtual Result<std::optional<Expected>> Expect(const Work& work) = 0;
  // Makes the ledger's rows durable; called when a checkpoint is written.
  virtual Status Sync() = 0;

  // Of Charged(), what counts against the budget.
  double Counted() const { return account_.Counted(Charged()); }
  const Account& account() const { return account_; }

 protected:
  explicit Clock(Rules rules) : account_(std::move(rules)) {}
  Account account_;
};

// Charges what passes on `time`. Starts to count at `start` (on time.monotonic's scale), so that
// the time a process spent before its clock existed is charged too; a ledger that is not empty goes
// on from its total.
std::unique_ptr<Clock> MakeHostClock(Ledger ledger, Rules rules, TimeSource time, double start);

// Charges prices. `resume_at`: the ledger's total at the checkpoint that the run goes on from (0
// for a run from the start, whatever its ledger holds already: the same work meets the same rows).
Result<std::unique_ptr<Clock>> MakePricedClock(Ledger ledger, Rules rules,
                                               std::shared_ptr<PriceList> prices, TimeSource time,
                                               double resume_at);

}  // namespace wt::train
