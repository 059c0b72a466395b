#include "train/clock.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace wt::train {
namespace {

std::string UtcNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", text, ms % 1000);
}

class HostClock : public Clock {
 public:
  HostClock(Ledger ledger, Rules rules, TimeSource time, double start)
      : Clock(std::move(rules)), ledger_(std::move(ledger)), time_(std::move(time)), mark_(start) {
    for (const train::Charge& row : ledger_.history()) account_.Add(row.reason, row.total);
  }

  double Charged() const override { return ledger_.total() + SinceMark(time_.monotonic()); }

  Status Charge(const Work& work) override {
    const double now = time_.monotonic();
    WT_RETURN_IF_ERROR(
        ledger_.Append(SinceMark(now), work.reason, work.program, time_.wall_text()));
    account_.Add(work.reason, ledger_.total());
    mark_ = std::max(mark_, now);
    return {};
  }

  Status Resume(const Work& startup, const Work&) override { return Charge(startup); }
  Result<std::optional<Expected>> Expect(const Work&) override { return std::optional<Expected>(); }
  Status Sync() override { return ledger_.Sync(); }

 private:
  double SinceMark(double now) const { return std::max(0.0, now - mark_); }

  Ledger ledger_;
  TimeSource time_;
  double mark_;  // up to here everything is booked
};

}  // namespace

TimeSource SystemTime() {
  return {[] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          },
          UtcNow};
}

std::unique_ptr<Clock> MakeHostClock(Ledger ledger, Rules rules, TimeSource time, double start) {
  return std::make_unique<HostClock>(std::move(ledger), std::move(rules), std::move(time), start);
}

}  // namespace wt::train
