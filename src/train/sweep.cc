#include "train/sweep.h"

#include <mutex>

#include "base/parallel.h"
#include "base/text_util.h"
#include "train/price_recipe.h"
#include "train/recipe_keys.h"

namespace wt::train {
namespace {

constexpr int64_t kMaxRows = 100000;

constexpr SweepFigure kFigures[] = {{"step_seconds", &SweepRow::seconds},
                                    {"step_seconds_low", &SweepRow::low},
                                    {"step_seconds_high", &SweepRow::high},
                                    {"tokens_per_second", &SweepRow::tokens_per_second},
                                    {"mfu", &SweepRow::mfu},
                                    {"steps_in_budget", &SweepRow::steps_in_budget},
                                    {"tokens_in_budget", &SweepRow::tokens_in_budget},
                                    {"hbm_bytes_peak", &SweepRow::hbm_peak}};

std::vector<std::string> SplitValues(const std::string& text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (c == ',' && depth == 0 && quote == 0) {
      values.emplace_back();
      continue;
    }
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else {
      depth += (c == '[') - (c == ']');
    }
    values.back() += c;
  }
  return values;
}

std::vector<std::string> Settings(const SweepJob& job, const SweepRow& row) {
  std::vector<std::string> settings = job.overrides;
  for (size_t i = 0; i < job.axes.size(); ++i) {
    settings.push_back(job.axes[i].key + "=" + row.values[i]);
  }
  return settings;
}

void PriceRow(const SweepJob& job, SweepRow* row) {
  const auto price = [&]() -> Result<price::StepPrice> {
    WT_ASSIGN_OR_RETURN(const Recipe recipe, ParseRecipe(job.text, job.name, Settings(job, *row)));
    return PriceRecipe(recipe, job.model);
  }();
  if (!price.ok()) {
    row->error = price.status().message();
    return;
  }
  row->seconds = price->seconds;
  row->low = price->low;
  row->high = price->high;
  row->tokens_per_second = price->tokens_per_second;
  row->mfu = price->mfu;
  row->steps_in_budget = price->steps_in_budget;
  row->tokens_in_budget = price->tokens_in_budget;
  row->hbm_peak = price->hbm.peak;
}

Result<std::vector<SweepRow>> Combinations(const std::vector<SweepAxis>& axes) {
  std::vector<SweepRow> rows(1);
  for (const SweepAxis& axis : axes) {
    if (static_cast<int64_t>(rows.size() * axis.values.size()) > kMaxRows) {
      return Error(Code::kInvalidArgument,
                   "the sweep has more than {} combinations; give fewer values or several sweeps",
                   kMaxRows);
    }
    std::vector<SweepRow> longer;
    for (const SweepRow& row : rows) {
      for (const std::string& value : axis.values) {
        longer.push_back(row);
        longer.back().values.push_back(value);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

}  // namespace

std::span<const SweepFigure> SweepFigures() { return kFigures; }

Result<SweepAxis> ParseSweepAxis(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    return Error(Code::kInvalidArgument,
                 "--sweep \"{}\": expected table.key=value,value,… such as model.depth=8,9,10",
                 text);
  }
  SweepAxis axis = {text.substr(0, equals), SplitValues(text.substr(equals + 1))};
  std::vector<std::string> names;
  for (const RecipeKey& key : RecipeKeys()) names.push_back(key.name());
  if (std::find(names.begin(), names.end(), axis.key) != names.end()) return axis;
  const std::string nearest = NearestName(axis.key, names);
  return Error(Code::kInvalidArgument, "--sweep: recipes have no key \"{}\"{}", axis.key,
               nearest.empty() ? "; docs/RECIPE.md lists them"
                               : fmt::format("; did you mean \"{}\"?", nearest));
}

Result<std::vector<SweepRow>> RunSweep(const SweepJob& job) {
  WT_RETURN_IF_ERROR(ParseRecipe(job.text, job.name, job.overrides).status());
  WT_ASSIGN_OR_RETURN(std::vector<SweepRow> rows, Combinations(job.axes));
  const auto count = static_cast<int64_t>(rows.size());
  std::mutex mutex;
  int64_t done = 0;
  bool stopped = false;
  ParallelFor(count, [&](int64_t i) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (stopped) return;
    }
    PriceRow(job, &rows[static_cast<size_t>(i)]);
    const std::lock_guard<std::mutex> lock(mutex);
    ++done;
    if (job.progress && !job.progress(done, count)) stopped = true;
  });
  if (stopped) return Error(Code::kInterrupted, "the sweep was stopped after {} rows", done);
  return rows;
}

}  // namespace wt::train
