#include "train/budget.h"

#include <algorithm>

#include "base/status.h"

namespace wt::train {
namespace {

constexpr double kGuessedBytesPerSecond = 100e6;  // a slow disk, synced
constexpr double kSaveMargin = 2;

}  // namespace

void BudgetKeeper::StepTook(double seconds, int64_t tokens) {
  WT_CHECK(tokens >= 1, "a step over {} tokens", tokens);
  recent_.push_back(std::max(0.0, seconds) / static_cast<double>(tokens));
  if (static_cast<int64_t>(recent_.size()) > options_.window) recent_.pop_front();
}

void BudgetKeeper::SaveTook(double seconds) { worst_save_ = std::max(worst_save_, seconds); }

void BudgetKeeper::ExpectSaveOf(double bytes) { guessed_save_ = bytes / kGuessedBytesPerSecond; }

double BudgetKeeper::StepAllowance(int64_t tokens) const {
  if (recent_.empty()) return 0;
  const double worst = *std::max_element(recent_.begin(), recent_.end());
  return options_.step_margin * worst * static_cast<double>(tokens);
}

double BudgetKeeper::SaveAllowance() const {
  if (known_save_ >= 0) return std::max(options_.reserve, known_save_);
  const double expected = worst_save_ > 0 ? kSaveMargin * worst_save_ : guessed_save_;
  return std::max(options_.reserve, expected);
}

double BudgetKeeper::Horizon(int64_t tokens) const { return HorizonBefore(StepAllowance(tokens)); }

double BudgetKeeper::HorizonBefore(double step_seconds) const {
  return std::max(0.0, options_.budget - SaveAllowance() - step_seconds);
}

bool BudgetKeeper::MaySpend(double charged, double seconds) const {
  return charged + seconds + SaveAllowance() <= options_.budget;
}

bool BudgetKeeper::MayStartStep(double charged, int64_t tokens) const {
  return MaySpend(charged, StepAllowance(tokens));
}

bool BudgetKeeper::MustAbandon(double charged, int64_t tokens_left) const {
  return !MaySpend(charged, StepAllowance(tokens_left));
}

}  // namespace wt::train
