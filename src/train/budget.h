// BudgetKeeper: decides before each step whether it may still start, so that the checkpoint is
// written before the budget ends. It sees only seconds, so the same rule serves every clock.
#pragma once

#include <cstdint>
#include <deque>

namespace wt::train {

struct BudgetOptions {
  double budget = 60;      // seconds, charged
  double reserve = 2;      // seconds kept for the last save, at least
  double step_margin = 2;  // the next step may take so many times the worst recent one
  int64_t window = 32;     // steps that count as recent
};

// What it promises: as long as no step takes more than step_margin times the worst of the last
// `window` (per token) and no save more than twice the worst so far (or the reserve), the last save
// ends within the budget. A machine that freezes in the middle of a step can break any such
// promise; MustAbandon(), asked between micro-batches, narrows that to one micro-batch.
class BudgetKeeper {
 public:
  explicit BudgetKeeper(const BudgetOptions& options) : options_(options) {}

  // A step over `tokens` took `seconds`. Requires tokens >= 1.
  void StepTook(double seconds, int64_t tokens);
  void SaveTook(double seconds);
  // The clock has said what a save takes.
  void SaveTakes(double seconds) { known_save_ = seconds; }
  // Before the first save its time is guessed from the bytes it will write.
  void ExpectSaveOf(double bytes);

  // Whether a step over `tokens` may start when `charged` seconds are gone. True before the first
  // step as long as the save still fits: somebody has to be the first.
  bool MayStartStep(double charged, int64_t tokens) const;
  // Within a step of which the work of `tokens_left` is still to do: whether to drop the step and
  // save the state before it. A step within its allowance is never dropped.
  bool MustAbandon(double charged, int64_t tokens_left) const;
  // Whether `seconds` more (an evaluation, say) still leave time for the save.
  bool MaySpend(double charged, double seconds) const;

  // Seconds that a step over `tokens` is allowed for, and that a save is.
  double StepAllowance(int64_t tokens) const;
  double SaveAllowance() const;
  // Charged seconds at which training ends, as far as can be said now: schedules by time reach
  // their end here.
  double Horizon(int64_t tokens) const;
  // The same when the last step is known to take `step_seconds`.
  double HorizonBefore(double step_seconds) const;

 private:
  BudgetOptions options_;
  std::deque<double> recent_;  // seconds per token
  double worst_save_ = 0;
  double guessed_save_ = 0, known_save_ = -1;
};

}  // namespace wt::train
