// Rules: what of a run's time counts against its budget. A contest's rules are a file of
// data/contests/; without one every second counts. They are applied to the ledger: the loop, and
// what it runs, know nothing of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "train/ledger.h"
#include "train/recipe.h"

namespace wt::train {

struct Rules {
  std::string name;        // "" when there are none
  double budget = 0;       // seconds that may count; 0: no limit
  int64_t free_steps = 0;  // the time up to the end of so many steps is start-up …
  double startup_cap = 0;  // … of which so many seconds do not count

  // data/contests/NAME.toml. kNotFound lists the names there are.
  static Result<Rules> Load(const std::string& name);
};

// Those that the recipe names. kInvalidArgument when it asks for more budget than they allow.
Result<Rules> RulesOf(const Recipe& recipe);

// Follows a ledger, charge by charge.
class Account {
 public:
  explicit Account(Rules rules = {}) : rules_(std::move(rules)) {}

  // The charge after which the ledger's total is `total`.
  void Add(ChargeReason reason, double total);

  // Of `total` seconds, charged or about to be, those that count.
  double Counted(double total) const;
  // The ledger's total after the last charge of this kind; 0 when there was none.
  double TotalAfterLast(ChargeReason reason) const { return last_[static_cast<size_t>(reason)]; }
  int64_t steps() const { return steps_; }
  const Rules& rules() const { return rules_; }

 private:
  Rules rules_;
  int64_t steps_ = 0;
  double startup_ = 0;  // total when start-up ended
  std::array<double, kNumChargeReasons> last_{};
};

}  // namespace wt::train
