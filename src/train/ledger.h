// The ledger: the append-only account of what was charged to a run's clock, one JSON line a charge
// (docs/formats/ledger.md). What a run took is the total of its ledger and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "train/jsonl_file.h"

namespace wt::train {

enum class ChargeReason { kStartup, kCompile, kStep, kEval, kSave, kOther };
inline constexpr size_t kNumChargeReasons = 6;
const char* ChargeReasonName(ChargeReason reason);
Result<ChargeReason> ParseChargeReason(const std::string& name);

struct Charge {
  std::string when;    // UTC, "2026-09-01T12:00:00.123Z"
  double seconds = 0;  // whole microseconds, not negative
  ChargeReason reason = ChargeReason::kOther;
  std::string program;  // hash of the StepProgram that ran; empty when none did
  double total = 0;     // of this row and all before it
};

class Ledger {
 public:
  // Opens or creates the file; the total continues from its rows. A line torn by a kill is cut.
  // Fails with kCorrupt when a row lacks a field or its total is not the sum so far.
  static Result<Ledger> Open(const std::string& path);

  // The rows that were there when it was opened.
  const std::vector<Charge>& history() const { return history_; }
  double total() const { return static_cast<double>(total_us_) / 1e6; }
  size_t rows() const { return rows_; }

  // Writes one row before it returns, so that a killed process loses no row; Sync() makes the rows
  // survive a power cut too. Requires seconds >= 0.
  Status Append(double seconds, ChargeReason reason, const std::string& program,
                const std::string& when);
  Status Sync() { return file_.Sync(); }

 private:
  explicit Ledger(JsonlFile file) : file_(std::move(file)) {}
  JsonlFile file_;
  std::vector<Charge> history_;
  int64_t total_us_ = 0;  // microseconds: a sum without rounding
  size_t rows_ = 0;
};

// The charges of a run, for reports and rules.
Result<std::vector<Charge>> ReadLedger(const std::string& path);

}  // namespace wt::train
