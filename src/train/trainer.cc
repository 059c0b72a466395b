#include "train/trainer.h"

#include <algorithm>
#include <ctime>
#include <numeric>

namespace wt::train {
namespace {

constexpr size_t kLossWindow = 16;  // steps that a shown loss averages

double WallSeconds() { return static_cast<double>(std::time(nullptr)); }

BudgetOptions BudgetOptionsOf(const Recipe& recipe) {
  return {recipe.train.budget, recipe.clock.reserve, recipe.clock.step_margin, 32};
}

// `at`: charged seconds of the checkpoint that the run goes on from.
Result<std::unique_ptr<Clock>> OpenClock(const TrainJob& job, const std::string& ledger_path,
                                         double at) {
  WT_ASSIGN_OR_RETURN(Rules rules, RulesOf(job.recipe));
  WT_ASSIGN_OR_RETURN(Ledger ledger, Ledger::Open(ledger_path));
  if (job.recipe.clock.kind == ClockKind::kHost)
    return MakeHostClock(std::move(ledger), std::move(rules), job.time, job.start);
  if (!job.prices) {
    return Error(Code::kInvalidArgument,
                 "clock.kind = \"trn2\" charges prices; run it with `windtunnel rehearse`");
  }
  return MakePricedClock(std::move(ledger), std::move(rules), job.prices, job.time, at);
}

}  // namespace

const char* StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kBudget:
      return "budget";
    case StopReason::kSteps:
      return "steps";
    case StopReason::kRequested:
      return "request";
  }
  return "?";
}

Trainer::Trainer(TrainJob job, RunFolder folder, std::unique_ptr<StepRunner> runner,
                 std::unique_ptr<Clock> clock, RunLog log, TfEventWriter events)
    : job_(std::move(job)),
      folder_(std::move(folder)),
      runner_(std::move(runner)),
      clock_(std::move(clock)),
      log_(std::move(log)),
      events_(std::move(events)),
      progress_(job_.progress),
      schedule_(job_.recipe),
      budget_(BudgetOptionsOf(job_.recipe)) {}

Result<Trainer> Trainer::Create(TrainJob job, RunFolder folder) {
  WT_ASSIGN_OR_RETURN(auto runner, StepRunner::Create(job.recipe, job.model, *job.data, job.bos));
  double resume_at = 0;
  if (job.resume && HasCheckpoint(folder.path())) {
    WT_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::Load(folder.path()));
    WT_RETURN_IF_ERROR(runner->Restore(checkpoint));
    resume_at = checkpoint.state().charged;
  }
  WT_ASSIGN_OR_RETURN(auto clock, OpenClock(job, folder.ledger_path(), resume_at));
  WT_ASSIGN_OR_RETURN(RunLog log, RunLog::Open(folder.log_path(), runner->steps()));
  WT_ASSIGN_OR_RETURN(TfEventWriter events,
                      TfEventWriter::Create(folder.path(), WallSeconds(), runner->steps()));
  return Trainer(std::move(job), std::move(folder), std::move(runner), std::move(clock),
                 std::move(log), std::move(events));
}

Result<TrainSummary> Trainer::Run() {
  WT_RETURN_IF_ERROR(Begin());
  while (true) {
    ScheduleValues values;
    WT_ASSIGN_OR_RETURN(const bool may_start, MayStart(&values));
    if (!may_start) break;
    WT_ASSIGN_OR_RETURN(const bool taken, TakeStep(values));
    if (!taken) break;
    WT_RETURN_IF_ERROR(SaveAndEvaluateWhenDue());
  }
  WT_RETURN_IF_ERROR(Finish());
  return Summarize();
}

Status Trainer::Begin() {
  const Work startup = Running(ChargeReason::kStartup), save = SaveWork();
  const bool resumed = runner_->steps() > 0;
  WT_RETURN_IF_ERROR(resumed ? clock_->Resume(startup, save) : clock_->Charge(startup));
  last_save_ = clock_->Counted();
  last_eval_ = clock_->account().TotalAfterLast(ChargeReason::kEval);
  last_eval_ = last_eval_ > 0 ? clock_->account().Counted(last_eval_) : last_save_;
  budget_.ExpectSaveOf(static_cast<double>(save.bytes));
  WT_ASSIGN_OR_RETURN(const std::optional<Expected> saving, clock_->Expect(save));
  if (saving) budget_.SaveTakes(saving->seconds);
  WT_RETURN_IF_ERROR(
      log_.Add(EventRow{Now(), resumed ? "resume" : "start",
                        fmt::format("{} parameters, program {}", runner_->parameter_count(),
                                    runner_->program_hash().substr(0, 12))}));
  // A checkpoint is made before the evaluation that is due at the same time.
  return resumed ? EvaluateWhenDue() : Status();
}

Work Trainer::Running(ChargeReason reason) const {
  Work work;
  work.reason = reason;
  work.program = runner_->program_hash();
  return work;
}

Work Trainer::StepWork(const ScheduleValues& values) const {
  Work work = Running(ChargeReason::kStep);
  work.tokens = values.tokens_per_step;
  const auto& weights = values.mtp_weights;
  work.targets = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
  const OptimizerConfig& optimizer = job_.recipe.optimizer;
  work.updates_average =
      optimizer.ema_decay > 0 && (runner_->steps() + 1) % optimizer.ema_every == 0;
  return work;
}

Work Trainer::EvalWork() const {
  Work work = Running(ChargeReason::kEval);
  work.tokens = job_.recipe.eval.tokens;
  return work;
}

Work Trainer::SaveWork() const {
  Work work;
  work.reason = ChargeReason::kSave;
  work.bytes = CheckpointBytes(runner_->Contents());
  return work;
}

Result<double> Trainer::Horizon() {
  ScheduleValues values;
  values.tokens_per_step = job_.recipe.train.tokens_per_step;
  WT_ASSIGN_OR_RETURN(const std::optional<Expected> step, clock_->Expect(StepWork(values)));
  return step ? budget_.HorizonBefore(step->seconds) : budget_.Horizon(values.tokens_per_step);
}

// Whether another step starts, and with which values.
Result<bool> Trainer::MayStart(ScheduleValues* values) {
  const int64_t steps = runner_->steps();
  const double counted = clock_->Counted();
  if (job_.stop_requested()) {
    stopped_ = StopReason::kRequested;
    return false;
  }
  if (job_.recipe.train.steps > 0 && steps >= job_.recipe.train.steps) {
    stopped_ = StopReason::kSteps;
    return false;
  }
  WT_ASSIGN_OR_RETURN(const double horizon, Horizon());
  *values = schedule_.At(schedule_.Progress(steps, counted, horizon), steps);
  stopped_ = StopReason::kBudget;
  WT_ASSIGN_OR_RETURN(const std::optional<Expected> step, clock_->Expect(StepWork(*values)));
  return step ? budget_.MaySpend(counted, step->counted)
              : budget_.MayStartStep(counted, values->tokens_per_step);
}

Result<bool> Trainer::TakeStep(const ScheduleValues& values) {
  const double before = clock_->Charged();
  const Work work = StepWork(values);
  WT_ASSIGN_OR_RETURN(const std::optional<Expected> expected, clock_->Expect(work));
  const auto may_go_on = [&](int64_t tokens_left) {
    return expected || !budget_.MustAbandon(clock_->Counted(), tokens_left);
  };
  Result<StepOutcome> outcome = runner_->Step(values, may_go_on);
  WT_RETURN_IF_ERROR(clock_->Charge(work));
  if (!outcome.ok()) {
    WT_RETURN_IF_ERROR(log_.Add(EventRow{Now(), "nan", outcome.status().message()}));
    return outcome.status();
  }
  if (outcome->abandoned) {
    WT_RETURN_IF_ERROR(
        log_.Add(EventRow{Now(), "abandoned", "the step in hand did not fit the budget"}));
    return false;
  }
  WT_RETURN_IF_ERROR(
      AfterStep(values, *outcome, expected ? expected->seconds : clock_->Charged() - before));
  return true;
}

Status Trainer::AfterStep(const ScheduleValues& values, const StepOutcome& outcome,
                          double seconds) {
  budget_.StepTook(seconds, outcome.tokens);
  step_seconds_ += seconds;
  step_tokens_ += outcome.tokens;
  recent_losses_.push_back(outcome.loss);
  if (recent_losses_.size() > kLossWindow) recent_losses_.pop_front();
  StepRow row;
  row.at = Now();
  row.loss = outcome.loss;
  row.lr_scale = values.lr_scale;
  row.muon_momentum = values.muon_momentum;
  row.grad_norm = outcome.gradient_norm;
  row.tokens_per_second = static_cast<double>(outcome.tokens) / seconds;
  WT_RETURN_IF_ERROR(log_.Add(row));
  WT_RETURN_IF_ERROR(events_.Add(WallSeconds(), row.at.step,
                                 {{"train/loss", row.loss},
                                  {"train/lr_scale", row.lr_scale},
                                  {"train/grad_norm", row.grad_norm},
                                  {"train/tokens_per_second", row.tokens_per_second}}));
  Show(false);
  return {};
}

Status Trainer::SaveAndEvaluateWhenDue() {
  const TrainConfig& config = job_.recipe.train;
  const double counted = clock_->Counted();
  const bool save_due = config.save_every > 0 && counted - last_save_ >= config.save_every;
  if (save_due && budget_.MaySpend(counted, budget_.SaveAllowance())) WT_RETURN_IF_ERROR(Save());
  return EvaluateWhenDue();
}

Status Trainer::EvaluateWhenDue() {
  const TrainConfig& config = job_.recipe.train;
  const double counted = clock_->Counted();
  const bool eval_due =
      job_.evaluate && config.eval_every > 0 && counted - last_eval_ >= config.eval_every;
  if (!eval_due) return {};
  // Where only time tells, the first evaluation's length is unknown; a tenth of the budget left is
  // taken to be enough.
  const double guessed = eval_seconds_ > 0 ? 1.5 * eval_seconds_ : 0.1 * (config.budget - counted);
  WT_ASSIGN_OR_RETURN(const std::optional<Expected> evaluation, clock_->Expect(EvalWork()));
  const double seconds = evaluation ? evaluation->counted : guessed;
  return budget_.MaySpend(counted, seconds) ? Evaluate() : Status();
}

Status Trainer::Evaluate() {
  const double before = clock_->Charged();
  WT_ASSIGN_OR_RETURN(EvalRow row, job_.evaluate(runner_->store()));
  WT_RETURN_IF_ERROR(clock_->Charge(EvalWork()));
  last_eval_ = clock_->Counted();
  row.at = Now();
  row.seconds = clock_->Charged() - before;
  eval_seconds_ = std::max(eval_seconds_, row.seconds);
  val_bpb_ = row.val_bpb;
  WT_RETURN_IF_ERROR(log_.Add(row));
  WT_RETURN_IF_ERROR(events_.Add(WallSeconds(), runner_->steps(), {{"val/bpb", row.val_bpb}}));
  Show(true);
  return {};
}

Status Trainer::Save() {
  const double before = clock_->Charged();
  CheckpointContents contents = runner_->Contents();
  contents.state.charged = before;
  contents.state.program_version = "windtunnel " WT_VERSION;
  WT_RETURN_IF_ERROR(SaveCheckpoint(folder_.path(), contents));
  WT_RETURN_IF_ERROR(clock_->Charge(SaveWork()));
  WT_RETURN_IF_ERROR(clock_->Sync());
  last_save_ = clock_->Counted();
  const double seconds = clock_->Charged() - before;
  budget_.SaveTook(seconds);
  SaveRow row;
  row.at = Now();
  row.folder = "checkpoint";
  row.bytes = CheckpointBytes(contents);
  row.seconds = seconds;
  WT_RETURN_IF_ERROR(log_.Add(row));
  return log_.Sync();
}

Status Trainer::Finish() {
  if (stopped_ != StopReason::kRequested) runner_->BlendAverage();
  WT_RETURN_IF_ERROR(Save());
  WT_RETURN_IF_ERROR(log_.Add(EventRow{Now(), "end", StopReasonName(stopped_)}));
  Show(true);
  progress_.Clear();
  return {};
}

LogPoint Trainer::Now() const { return {runner_->steps(), clock_->Charged(), runner_->tokens()}; }

void Trainer::Show(bool force) {
  ProgressView view;
  view.step = runner_->steps();
  const auto count = static_cast<double>(recent_losses_.size());
  if (count > 0)
    view.loss = std::accumulate(recent_losses_.begin(), recent_losses_.end(), 0.0) / count;
  if (val_bpb_) view.val_bpb = *val_bpb_;
  if (step_seconds_ > 0) view.tokens_per_second = static_cast<double>(step_tokens_) / step_seconds_;
  view.charged = clock_->Counted();
  view.budget = job_.recipe.train.budget;
  progress_.Update(view, force);
}

TrainSummary Trainer::Summarize() const {
  TrainSummary summary;
  summary.stopped = stopped_;
  summary.steps = runner_->steps();
  summary.tokens = runner_->tokens();
  summary.parameters = runner_->parameter_count();
  const auto count = static_cast<double>(recent_losses_.size());
  if (count > 0)
    summary.loss = std::accumulate(recent_losses_.begin(), recent_losses_.end(), 0.0) / count;
  summary.charged = clock_->Charged();
  summary.counted = clock_->Counted();
  summary.step_seconds = step_seconds_;
  summary.step_tokens = step_tokens_;
  summary.flops_per_token = runner_->flops_per_token();
  summary.arena_bytes = runner_->executor().bytes();
  summary.tensor_bytes = runner_->store().bytes();
  summary.checkpoint = folder_.path() + "/checkpoint";
  return summary;
}

}  // namespace wt::train
