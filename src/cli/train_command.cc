// windtunnel train: trains a recipe under its budget, scores the result, and says what came out.
#include "base/files.h"
#include "base/parallel.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/training.h"
#include "train/price_recipe.h"

namespace wt::cli {
namespace {

struct TrainArguments {
  std::string recipe, run, resume, model;
  std::vector<std::string> overrides;
  bool no_eval = false, json = false;
};

// The recipe and folder of the run: new, or the one to go on with.
std::pair<train::Recipe, train::RunFolder> OpenRun(const TrainArguments& arguments) {
  if (!arguments.resume.empty()) {
    train::RunFolder folder = ValueOrExit(train::RunFolder::Open(arguments.resume));
    return {ValueOrExit(train::LoadRecipe(folder.recipe_path())), std::move(folder)};
  }
  const train::Recipe recipe =
      ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  if (recipe.clock.kind != train::ClockKind::kHost) {
    ExitOn(
        Error(Code::kInvalidArgument,
              "clock.kind = \"trn2\" charges the chip's time; run it with `windtunnel rehearse`"));
  }
  ExitOn(train::RulesOf(recipe).status());
  const std::string path = arguments.run.empty() ? NewRunFolder(arguments.recipe) : arguments.run;
  train::RunFolder folder = ValueOrExit(train::RunFolder::Create(path, recipe));
  if (!arguments.model.empty()) {
    ExitOn(WriteFileAtomic(path + "/model.cc", ValueOrExit(ReadFile(arguments.model))));
  }
  return {recipe, std::move(folder)};
}

// What the same steps would take on the chip.
Json PriceOfSteps(const train::Recipe& recipe, const nn::ModelFunction& model, int64_t steps) {
  const auto price = train::PriceRecipe(recipe, model);
  if (!price.ok()) return {{"not_priced", price.status().message()}};
  const auto times = static_cast<double>(steps);
  return {{"step_seconds", price->seconds},
          {"seconds", times * price->seconds},
          {"seconds_low", times * price->low},
          {"seconds_high", times * price->high}};
}

std::string ChipText(const Json& result) {
  const Json& chip = result["chip"];
  if (chip.contains("not_priced")) return "not priced: " + chip["not_priced"].get<std::string>();
  const auto number = [&](const char* key) { return chip.at(key).get<double>(); };
  return fmt::format("these {} steps would take {} ({} to {}), {:.3f} s each",
                     result["steps"].get<int64_t>(), FormatDuration(number("seconds")),
                     FormatDuration(number("seconds_low")), FormatDuration(number("seconds_high")),
                     number("step_seconds"));
}

void PrintSummary(const Json& result, const std::string& run, const std::string& machine) {
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
  rows.push_back({"on " + machine, ChipText(result)});
  rows.push_back({"saved in", run});
  rows.push_back({"try next", fmt::format("windtunnel sample {} --prompt \"It is a truth\"", run)});
  rows.push_back({"", "windtunnel price recipes/nano.toml --set model.head_dim=96"});
  rows.push_back(
      {"", "windtunnel train recipes/nano.toml --set model.depth=4 --set train.budget=2m"});
  PrintTable(rows);
}

void RunTrain(const TrainArguments& arguments, double start) {
  CatchStopSignals();
  auto [recipe, folder] = OpenRun(arguments);
  if (recipe.train.threads > 0) SetThreads(static_cast<int>(recipe.train.threads));
  const std::string run = folder.path();
  const RunParts parts = OpenRunParts(recipe, run);
  TrainingOptions options;
  options.start = start;
  options.resume = !arguments.resume.empty();
  options.score = !arguments.no_eval;
  Json result = TrainAndScore(recipe, std::move(folder), parts, options);
  result["chip"] = PriceOfSteps(recipe, parts.model, result["steps"].get<int64_t>());
  ExitOn(UpdateResult(run, {{"chip", result["chip"]}}));
  if (arguments.json) return PrintJson(result);
  PrintSummary(result, run, recipe.machine.name);
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
