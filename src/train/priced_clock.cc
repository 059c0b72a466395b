// The clock of a rehearsal: charges what work would cost on another machine.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "train/clock.h"

namespace wt::train {
namespace {

bool SameMicroseconds(double a, double b) { return std::llround(a * 1e6) == std::llround(b * 1e6); }

class PricedClock : public Clock {
 public:
  PricedClock(Ledger ledger, Rules rules, std::shared_ptr<PriceList> prices, TimeSource time)
      : Clock(std::move(rules)),
        ledger_(std::move(ledger)),
        prices_(std::move(prices)),
        time_(std::move(time)) {}

  // Goes to the row whose total is `total`.
  Status GoTo(double total) {
    while (!SameMicroseconds(total_, total)) {
      if (next_ == ledger_.history().size() || total_ > total) {
        return Error(Code::kCorrupt,
                     "the checkpoint was saved at {} charged seconds, and no row of the ledger has "
                     "that total; the two are not of one run",
                     total);
      }
      Pass(ledger_.history()[next_]);
    }
    return {};
  }

  double Charged() const override { return total_; }

  Status Charge(const Work& work) override {
    WT_ASSIGN_OR_RETURN(const WorkPrice price, prices_->PriceOf(work));
    if (IsNew(price)) {
      WT_RETURN_IF_ERROR(Book(ChargeReason::kCompile, price.compile_seconds, price.program));
    }
    return Book(work.reason, price.seconds, work.program);
  }

  // Coming back to a checkpoint is no part of the run that is rehearsed.
  Status Resume(const Work&, const Work& save) override { return Charge(save); }

  Result<std::optional<Expected>> Expect(const Work& work) override {
    WT_ASSIGN_OR_RETURN(const WorkPrice price, prices_->PriceOf(work));
    const double compile = IsNew(price) ? price.compile_seconds : 0;
    const double total = total_ + compile + price.seconds;
    Account after = account_;
    after.Add(work.reason, total);
    return std::optional<Expected>({price.seconds, compile, after.Counted(total) - Counted()});
  }

  Status Sync() override { return ledger_.Sync(); }

 private:
  bool IsNew(const WorkPrice& price) const {
    return !price.program.empty() && !compiled_.contains(price.program);
  }

  // Writes a row, or passes the one that the same work has already.
  Status Book(ChargeReason reason, double seconds, const std::string& program) {
    if (next_ == ledger_.history().size()) {
      const std::string when = time_.wall_text();
      WT_RETURN_IF_ERROR(ledger_.Append(seconds, reason, program, when));
      Follow({when, seconds, reason, program, ledger_.total()});
      return {};
    }
    const train::Charge& row = ledger_.history()[next_];
    if (row.reason != reason || row.program != program || !SameMicroseconds(row.seconds, seconds)) {
      return Error(Code::kMismatch,
                   "row {} of the ledger charges {} s for a {}; the same work is now a {} of {} s. "
                   "Prices or the recipe have changed since; start a new run",
                   next_ + 1, row.seconds, ChargeReasonName(row.reason), ChargeReasonName(reason),
                   seconds);
    }
    Pass(row);
    return {};
  }

  void Pass(const train::Charge& row) {
    ++next_;
    Follow(row);
  }
  void Follow(const train::Charge& row) {
    total_ = row.total;
    account_.Add(row.reason, row.total);
    if (row.reason == ChargeReason::kCompile) compiled_.insert(row.program);
  }

  Ledger ledger_;
  std::shared_ptr<PriceList> prices_;
  TimeSource time_;
  size_t next_ = 0;  // row of the ledger's history
  double total_ = 0;
  std::set<std::string> compiled_;
};

}  // namespace

Result<std::unique_ptr<Clock>> MakePricedClock(Ledger ledger, Rules rules,
                                               std::shared_ptr<PriceList> prices, TimeSource time,
                                               double resume_at) {
  auto clock = std::make_unique<PricedClock>(std::move(ledger), std::move(rules), std::move(prices),
                                             std::move(time));
  WT_RETURN_IF_ERROR(clock->GoTo(resume_at));
  return std::unique_ptr<Clock>(std::move(clock));
}

}  // namespace wt::train
