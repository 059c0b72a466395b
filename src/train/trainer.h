// The training loop: takes steps while the budget lasts, writes down what happened, saves in time.
// It asks the clock for seconds, the budget keeper for permission, the schedule for values, and
// StepRunner for numbers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "train/budget.h"
#include "train/clock.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/run_log.h"
#include "train/step_runner.h"
#include "train/tfevents.h"

namespace wt::train {

struct TrainJob {
  Recipe recipe;
  nn::ModelFunction model;
  std::optional<text::TokenSet> data;  // the training side
  int32_t bos = 0;
  TimeSource time;
  double start = 0;  // of the process, on time.monotonic's scale: start-up is charged from here
  std::shared_ptr<PriceList> prices;  // of a clock other than the host's
  bool resume = false;
  ProgressOptions progress;
  // Scores the live weights for train.eval_every; null: never. The loop fills in `at` and
  // `seconds`.
  std::function<Result<EvalRow>(nn::TensorStore& weights)> evaluate;
  std::function<bool()> stop_requested = [] { return false; };
};

enum class StopReason { kBudget, kSteps, kRequested };
const char* StopReasonName(StopReason reason);

struct TrainSummary {
  StopReason stopped = StopReason::kBudget;
  int64_t steps = 0, tokens = 0, parameters = 0;
  double loss = 0;             // mean of the last 16 steps
  double charged = 0;          // the ledger's total
  double counted = 0;          // of it, what counts against the budget
  double step_seconds = 0;     // in this process's steps
  int64_t step_tokens = 0;     // of those steps
  double flops_per_token = 0;  // of matrix products
  int64_t arena_bytes = 0, tensor_bytes = 0;
  std::string checkpoint;  // folder
};

class Trainer {
 public:
  // Opens everything in `folder` and, when resuming, goes back to its checkpoint.
  static Result<Trainer> Create(TrainJob job, RunFolder folder);

  // Trains until budget, steps or a request ends it, and saves. After a failure the last checkpoint
  // is intact.
  Result<TrainSummary> Run();

  StepRunner& runner() { return *runner_; }

 private:
  Trainer(TrainJob job, RunFolder folder, std::unique_ptr<StepRunner> runner,
          std::unique_ptr<Clock> clock, RunLog log, TfEventWriter events);
  Status Begin();
  Work StepWork(const ScheduleValues& values) const;
  Work EvalWork() const;
  Work SaveWork() const;
  Work Running(ChargeReason reason) const;
  // False when the step was dropped for want of time.
  Result<bool> TakeStep(const ScheduleValues& values);
  Result<bool> MayStart(ScheduleValues* values);
  // Counted seconds at which training will end.
  Result<double> Horizon();
  Status AfterStep(const ScheduleValues& values, const StepOutcome& outcome, double seconds);
  Status SaveAndEvaluateWhenDue();
  Status EvaluateWhenDue();
  Status Evaluate();
  Status Save();
  Status Finish();
  LogPoint Now() const;
  void Show(bool force);
  TrainSummary Summarize() const;

  TrainJob job_;
  RunFolder folder_;
  std::unique_ptr<StepRunner> runner_;
  std::unique_ptr<Clock> clock_;
  RunLog log_;
  TfEventWriter events_;
  Progress progress_;
  Schedule schedule_;
  BudgetKeeper budget_;
  StopReason stopped_ = StopReason::kBudget;
  std::deque<double> recent_losses_;
  double last_save_ = 0, last_eval_ = 0;  // counted seconds
  double eval_seconds_ = 0;               // the longest evaluation so far
  std::optional<double> val_bpb_;
  double step_seconds_ = 0;
  int64_t step_tokens_ = 0;
};

}  // namespace wt::train
