#include "train/ledger.h"

#include <array>
#include <cmath>

namespace wt::train {
namespace {

constexpr std::array<const char*, kNumChargeReasons> kReasons = {"startup", "compile", "step",
                                                                 "eval",    "save",    "other"};

int64_t Microseconds(double seconds) { return std::llround(seconds * 1e6); }
// Division, not a factor of 1e-6: it gives the double nearest to the decimal.
double Seconds(int64_t microseconds) { return static_cast<double>(microseconds) / 1e6; }

Result<Charge> ParseCharge(const Json& row) {
  const auto text = [&](const char* key) {
    return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : std::string();
  };
  const auto number = [&](const char* key) {
    return row.contains(key) && row[key].is_number() ? row[key].get<double>() : -1.0;
  };
  Charge charge{text("when"), number("seconds"), {}, text("program"), number("total")};
  if (charge.when.empty() || !(charge.seconds >= 0) || !(charge.total >= 0)) {
    return Error(Code::kCorrupt, "expected when, seconds, reason, program and total");
  }
  WT_ASSIGN_OR_RETURN(charge.reason, ParseChargeReason(text("reason")));
  return charge;
}

// Checks each row's total against the sum so far.
Result<std::vector<Charge>> ParseCharges(const std::vector<Json>& rows, const std::string& path) {
  std::vector<Charge> charges;
  int64_t total_us = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto charge = ParseCharge(rows[i]);
    if (!charge.ok()) return charge.status().WithContext(fmt::format("{}:{}", path, i + 1));
    total_us += Microseconds(charge->seconds);
    if (Microseconds(charge->total) != total_us) {
      return Error(Code::kCorrupt,
                   "{}:{}: total is {}; expected the sum of the seconds so far, {}. Rows were "
                   "changed or lost; restore the file or start in a new run folder",
                   path, i + 1, charge->total, Seconds(total_us));
    }
    charges.push_back(*charge);
  }
  return charges;
}

}  // namespace

const char* ChargeReasonName(ChargeReason reason) { return kReasons[static_cast<size_t>(reason)]; }

Result<ChargeReason> ParseChargeReason(const std::string& name) {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (name == kReasons[i]) return static_cast<ChargeReason>(i);
  }
  return Error(Code::kCorrupt,
               "reason is '{}'; expected startup, compile, step, eval, save or other", name);
}

Result<Ledger> Ledger::Open(const std::string& path) {
  std::vector<Json> rows;
  WT_ASSIGN_OR_RETURN(JsonlFile file, JsonlFile::Open(path, &rows));
  WT_ASSIGN_OR_RETURN(auto charges, ParseCharges(rows, path));
  Ledger ledger(std::move(file));
  ledger.rows_ = charges.size();
  if (!charges.empty()) ledger.total_us_ = Microseconds(charges.back().total);
  ledger.history_ = std::move(charges);
  return ledger;
}

Status Ledger::Append(double seconds, ChargeReason reason, const std::string& program,
                      const std::string& when) {
  WT_CHECK(seconds >= 0 && std::isfinite(seconds), "a charge of {} seconds", seconds);
  const int64_t total_us = total_us_ + Microseconds(seconds);
  WT_RETURN_IF_ERROR(file_.Append({{"when", when},
                                   {"seconds", Seconds(Microseconds(seconds))},
                                   {"reason", ChargeReasonName(reason)},
                                   {"program", program},
                                   {"total", Seconds(total_us)}}));
  total_us_ = total_us;
  ++rows_;
  return {};
}

Result<std::vector<Charge>> ReadLedger(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const auto rows, ReadJsonl(path));
  return ParseCharges(rows, path);
}

}  // namespace wt::train
