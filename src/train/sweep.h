// Sweep: the prices of every combination of some keys' values, around one recipe. A combination
// that cannot be priced (it does not fit HBM, or contradicts itself) is a row with its reason.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nn/gpt.h"
#include "price/step_price.h"

namespace wt::train {

struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

// "model.depth=8,9,10"; commas inside brackets and quotes belong to a value. Fails on a key that
// recipes do not have, naming the nearest.
Result<SweepAxis> ParseSweepAxis(const std::string& text);

struct SweepRow {
  std::vector<std::string> values;  // one of each axis
  std::string error;                // empty: priced
  double seconds = 0, low = 0, high = 0, tokens_per_second = 0, mfu = 0;
  double steps_in_budget = 0, tokens_in_budget = 0, hbm_peak = 0;
};
struct SweepFigure {
  const char* name;  // as in the price's JSON
  double SweepRow::*member;
};
std::span<const SweepFigure> SweepFigures();

struct SweepJob {
  std::string text, name;              // of the recipe
  std::vector<std::string> overrides;  // for every row
  std::vector<SweepAxis> axes;
  nn::ModelFunction model;
  // Rows done, of how many; false asks for a stop. Called from several threads, one at a time.
  std::function<bool(int64_t, int64_t)> progress;
};

// The last axis moves fastest. On all cores. Fails when the recipe itself is wrong, on more than
// 100,000 rows, and with kInterrupted when asked to stop.
Result<std::vector<SweepRow>> RunSweep(const SweepJob& job);

}  // namespace wt::train
