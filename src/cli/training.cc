#include "cli/training.h"

#include <ctime>
#include <filesystem>

#include "base/machine.h"
#include "base/parallel.h"
#include "cli/eval_command.h"
#include "tensor/block_gemm.h"
#include "tensor/peak.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

Result<train::EvalRow> ScoreLive(const train::Recipe& recipe, const nn::ModelFunction& model,
                                 const text::Dataset& data, nn::TensorStore& weights) {
  const eval::BpbOptions options = BpbOptionsOf(recipe);
  WT_ASSIGN_OR_RETURN(
      const eval::BpbResult result,
      eval::EvaluateBpb(recipe.model, model, &weights, data.val, data.tokenizer, options));
  return BpbRow(result);
}

Json SummaryJson(const train::TrainSummary& summary, const train::Recipe& recipe, double peak) {
  const double rate = summary.step_seconds > 0
                          ? static_cast<double>(summary.step_tokens) / summary.step_seconds
                          : 0;
  return {{"stopped", train::StopReasonName(summary.stopped)},
          {"steps", summary.steps},
          {"tokens", summary.tokens},
          {"parameters", summary.parameters},
          {"train_loss", summary.loss},
          {"charged_seconds", summary.charged},
          {"counted_seconds", summary.counted},
          {"budget_seconds", recipe.train.budget},
          {"tokens_per_second", rate},
          {"flops_per_second", rate * summary.flops_per_token},
          {"matrix_peak_flops", peak},
          {"share_of_matrix_peak", rate * summary.flops_per_token / peak},
          {"instruction_set", tensor::ActiveBlockGemm().name},
          {"threads", Threads()},
          {"processor", ProcessorName()},
          {"arena_bytes", summary.arena_bytes},
          {"tensor_bytes", summary.tensor_bytes},
          {"peak_resident_bytes", PeakResidentBytes()},
          {"checkpoint", summary.checkpoint}};
}

train::TrainJob MakeJob(const train::Recipe& recipe, const text::Dataset& data, double start) {
  train::TrainJob job;
  job.recipe = recipe;
  job.data = data.train;
  job.bos = data.tokenizer.bos();
  job.time = train::SystemTime();
  job.start = start;
  job.progress = train::StderrProgress();
  job.stop_requested = StopRequested;
  return job;
}

}  // namespace

std::string NewRunFolder(const std::string& recipe) {
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  return fmt::format("runs/{}-{}", std::filesystem::path(recipe).stem().string(), stamp);
}

RunParts OpenRunParts(const train::Recipe& recipe, const std::string& run) {
  const train::Places places = train::FindPlaces();
  nn::ModelFunction model =
      ValueOrExit(train::ResolveModel(train::ModelFileOf(run), places.cache + "/models"));
  const double before = train::SystemTime().monotonic();
  text::Dataset data = OpenRecipeData(recipe, places);
  return {std::move(data), std::move(model), train::SystemTime().monotonic() - before};
}

Json TrainAndScore(const train::Recipe& recipe, train::RunFolder folder, const RunParts& parts,
                   const TrainingOptions& options) {
  const std::string run = folder.path();
  train::TrainJob job = MakeJob(recipe, parts.data, options.start + parts.data_seconds);
  job.model = parts.model;
  job.resume = options.resume;
  job.prices = options.prices;
  if (recipe.train.eval_every > 0) {
    job.evaluate = [&](nn::TensorStore& weights) {
      return ScoreLive(recipe, parts.model, parts.data, weights);
    };
  }
  train::Trainer trainer = ValueOrExit(train::Trainer::Create(std::move(job), std::move(folder)));
  const train::TrainSummary summary = ValueOrExit(trainer.Run());
  Json result = SummaryJson(summary, recipe, tensor::MeasureMatrixPeak(Threads()));
  ExitOn(UpdateResult(run, result));
  if (summary.stopped == train::StopReason::kRequested) {
    std::fprintf(stderr, "stopped at step %ld; go on with: windtunnel %s --resume %s\n",
                 static_cast<long>(summary.steps), options.command, run.c_str());
    throw CLI::RuntimeError(130);
  }
  if (!options.score) return result;
  const eval::BpbResult bpb =
      ValueOrExit(eval::EvaluateBpb(recipe.model, parts.model, &trainer.runner().store(),
                                    parts.data.val, parts.data.tokenizer, BpbOptionsOf(recipe)));
  result["bpb"] = BpbJson(bpb);
  ExitOn(UpdateResult(run, {{"bpb", BpbJson(bpb)}}));
  return result;
}

}  // namespace wt::cli
