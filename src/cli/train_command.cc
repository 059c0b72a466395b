// windtunnel train: trains a recipe under its budget, scores the result, and says what came out.
#include <ctime>
#include <filesystem>

#include "base/files.h"
#include "base/machine.h"
#include "base/parallel.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/eval_command.h"
#include "tensor/block_gemm.h"
#include "tensor/peak.h"
#include "train/trainer.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string recipe, run, resume, model;
  std::vector<std::string> overrides;
  bool no_eval = false, json = false;
};

std::string NewRunFolder(const std::string& recipe) {
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  return fmt::format("runs/{}-{}", fs::path(recipe).stem().string(), stamp);
}

// The recipe and folder of the run: new, or the one to go on with.
std::pair<train::Recipe, train::RunFolder> OpenRun(const TrainArguments& arguments) {
  if (!arguments.resume.empty()) {
    train::RunFolder folder = ValueOrExit(train::RunFolder::Open(arguments.resume));
    return {ValueOrExit(train::LoadRecipe(folder.recipe_path())), std::move(folder)};
  }
  const train::Recipe recipe =
      ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  const std::string path = arguments.run.empty() ? NewRunFolder(arguments.recipe) : arguments.run;
  train::RunFolder folder = ValueOrExit(train::RunFolder::Create(path, recipe));
  if (!arguments.model.empty()) {
    ExitOn(WriteFileAtomic(path + "/model.cc", ValueOrExit(ReadFile(arguments.model))));
  }
  return {recipe, std::move(folder)};
}

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

void PrintSummary(const Json& result, const std::string& run) {
  const auto number = [&](const char* key) { return result.at(key).get<double>(); };
  std::vector<std::pair<std::string, std::string>> rows = {
      {"model", FormatCount(number("parameters")) + " parameters"},
      {"tokens", fmt::format("{} in {} steps", FormatCount(number("tokens")),
                             result.at("steps").get<int64_t>())},
      {"tokens/s", fmt::format("{:.0f}", number("tokens_per_second"))},
      {"matrix peak",
       fmt::format("{:.1f} % of {} FLOP/s ({}, {} threads)", 100 * number("share_of_matrix_peak"),
                   FormatCount(number("matrix_peak_flops")),
                   result.at("instruction_set").get<std::string>(),
                   result.at("threads").get<int>())},
      {"memory", FormatBytes(number("peak_resident_bytes")) + " at most"},
      {"charged", fmt::format("{} of {}, ended by {}", FormatDuration(number("charged_seconds")),
                              FormatDuration(number("budget_seconds")),
                              result.at("stopped").get<std::string>())},
      {"train loss", fmt::format("{:.4f} nats/token", number("train_loss"))}};
  if (result.contains("bpb")) {
    const Json& bpb = result["bpb"];
    rows.push_back(
        {"val_bpb", fmt::format("{:.4f}  ({} tokens, context {}, {})", bpb["val_bpb"].get<double>(),
                                bpb["tokens"].get<int64_t>(), bpb["context"].get<int64_t>(),
                                bpb["loader"].get<std::string>())});
  }
  rows.push_back({"saved in", run});
  rows.push_back({"try next", fmt::format("windtunnel sample {} --prompt \"It is a truth\"", run)});
  rows.push_back(
      {"", "windtunnel train recipes/nano.toml --set model.depth=4 --set train.budget=2m"});
  PrintTable(rows);
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

void RunTrain(const TrainArguments& arguments, double start) {
  CatchStopSignals();
  auto [recipe, folder] = OpenRun(arguments);
  if (recipe.train.threads > 0) SetThreads(static_cast<int>(recipe.train.threads));
  const std::string run = folder.path();
  const train::Places places = train::FindPlaces();
  const nn::ModelFunction model =
      ValueOrExit(train::ResolveModel(train::ModelFileOf(run), places.cache + "/models"));
  // Making tokenizer and token files is preparation; with both there it is part of start-up.
  const double before_data = train::SystemTime().monotonic();
  const text::Dataset data = OpenRecipeData(recipe, places);
  const double data_seconds = train::SystemTime().monotonic() - before_data;

  train::TrainJob job = MakeJob(recipe, data, start + data_seconds);
  job.model = model;
  job.resume = !arguments.resume.empty();
  if (recipe.train.eval_every > 0) {
    job.evaluate = [&, &recipe = recipe](nn::TensorStore& weights) {
      return ScoreLive(recipe, model, data, weights);
    };
  }
  train::Trainer trainer = ValueOrExit(train::Trainer::Create(std::move(job), std::move(folder)));
  const train::TrainSummary summary = ValueOrExit(trainer.Run());
  Json result = SummaryJson(summary, recipe, tensor::MeasureMatrixPeak(Threads()));
  ExitOn(UpdateResult(run, result));
  if (summary.stopped == train::StopReason::kRequested) {
    std::fprintf(stderr, "stopped at step %ld; go on with: windtunnel train --resume %s\n",
                 static_cast<long>(summary.steps), run.c_str());
    throw CLI::RuntimeError(130);
  }
  if (!arguments.no_eval) {
    const eval::BpbResult bpb =
        ValueOrExit(eval::EvaluateBpb(recipe.model, model, &trainer.runner().store(), data.val,
                                      data.tokenizer, BpbOptionsOf(recipe)));
    result["bpb"] = BpbJson(bpb);
    ExitOn(UpdateResult(run, {{"bpb", BpbJson(bpb)}}));
  }
  if (arguments.json) return PrintJson(result);
  PrintSummary(result, run);
}

}  // namespace

void AddTrainCommand(CLI::App* app) {
  const double start = train::SystemTime().monotonic();
  CLI::App* train = app->add_subcommand("train", "train a recipe under its budget and score it");
  const auto arguments = std::make_shared<TrainArguments>();
  CLI::Option* recipe = train->add_option("RECIPE", arguments->recipe, "recipe file (TOML)");
  train
      ->add_option("--set", arguments->overrides,
                   "override a key: --set model.depth=4 (repeatable)")
      ->allow_extra_args(false);
  train->add_option("--run", arguments->run, "run folder to make (runs/RECIPE-TIME)");
  train->add_option("--resume", arguments->resume, "go on with this run folder")->excludes(recipe);
  train->add_option("--model", arguments->model, "C++ model file in place of the built-in family");
  train->add_flag("--no-eval", arguments->no_eval, "do not score at the end");
  train->add_flag("--json", arguments->json, "print the result as one JSON object");
  train->footer(
      "Examples:\n"
      "  windtunnel train recipes/nano.toml --set train.budget=5m\n"
      "  windtunnel train --resume runs/nano-20260930-101500\n"
      "docs/RECIPE.md lists every key.");
  train->callback([arguments, start] {
    if (arguments->recipe.empty() == arguments->resume.empty()) {
      ExitOn(Error(Code::kInvalidArgument, "train: give a RECIPE, or --resume RUN"));
    }
    RunTrain(*arguments, start);
  });
}

}  // namespace wt::cli
