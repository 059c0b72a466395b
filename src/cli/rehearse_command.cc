// windtunnel rehearse: trains for real until the time that the chip would have taken is spent.
#include "base/files.h"
#include "base/parallel.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/training.h"
#include "train/miniature.h"
#include "train/recipe_prices.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

struct RehearseArguments {
  std::string recipe, run, resume, model;
  std::vector<std::string> overrides;
  std::string rules = "frontier-2026-phase1";
  double scale = 1;
  bool no_eval = false, json = false;
};

// What the chip would run and what this machine trains.
struct Rehearsal {
  train::Recipe whole, trained;
  int64_t token_scale = 1;
  bool miniature() const { return train::RecipeHash(whole) != train::RecipeHash(trained); }
};

std::string PricedRecipe(const std::string& run) { return run + "/priced.toml"; }

Rehearsal NewRehearsal(const RehearseArguments& arguments) {
  Rehearsal rehearsal;
  rehearsal.whole = ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  rehearsal.whole.clock.kind = train::ClockKind::kTrn2;
  if (rehearsal.whole.clock.rules.empty() && arguments.rules != "none")
    rehearsal.whole.clock.rules = arguments.rules;
  ExitOn(train::RulesOf(rehearsal.whole).status());
  train::Miniature miniature = ValueOrExit(train::MakeMiniature(rehearsal.whole, arguments.scale));
  rehearsal.trained = std::move(miniature.recipe);
  rehearsal.token_scale = miniature.token_scale;
  return rehearsal;
}

Rehearsal OldRehearsal(const train::RunFolder& folder) {
  Rehearsal rehearsal;
  rehearsal.trained = ValueOrExit(train::LoadRecipe(folder.recipe_path()));
  rehearsal.whole = ValueOrExit(train::LoadRecipe(PricedRecipe(folder.path())));
  rehearsal.token_scale =
      rehearsal.whole.train.tokens_per_step / rehearsal.trained.train.tokens_per_step;
  return rehearsal;
}

train::RunFolder MakeFolder(const RehearseArguments& arguments, const Rehearsal& rehearsal) {
  const std::string path = arguments.run.empty() ? NewRunFolder(arguments.recipe) : arguments.run;
  train::RunFolder folder = ValueOrExit(train::RunFolder::Create(path, rehearsal.trained));
  ExitOn(train::SaveRecipe(rehearsal.whole, PricedRecipe(path)));
  if (!arguments.model.empty()) {
    ExitOn(WriteFileAtomic(path + "/model.cc", ValueOrExit(ReadFile(arguments.model))));
  }
  return folder;
}

// Tokens a second that this machine trains: one micro-batch after one that warms up.
double HostRate(const Rehearsal& rehearsal, const RunParts& parts) {
  train::Recipe recipe = rehearsal.trained;
  recipe.train.tokens_per_step = recipe.micro_batch_tokens();
  recipe.schedule.batch_phases.clear();
  const auto runner = ValueOrExit(
      train::StepRunner::Create(recipe, parts.model, parts.data.train, parts.data.tokenizer.bos()));
  const train::ScheduleValues values = train::Schedule(recipe).At(0, 0);
  const auto always = [](int64_t) { return true; };
  const train::TimeSource time = train::SystemTime();
  double start = 0;
  for (int step = 0; step < 2; ++step) {
    start = time.monotonic();
    ExitOn(runner->Step(values, always).status());
  }
  return static_cast<double>(recipe.train.tokens_per_step) / (time.monotonic() - start);
}

std::string ModelText(const train::Recipe& recipe) {
  return fmt::format("{} layers of {}, {} tokens a step", recipe.model.depth, recipe.model.width,
                     FormatCount(static_cast<double>(recipe.train.tokens_per_step)));
}

// Before it starts: the price, and the time that it will take here.
void Announce(const Rehearsal& rehearsal, const price::StepPrice& step, const RunParts& parts,
              const std::string& run) {
  const train::Recipe& whole = rehearsal.whole;
  const double steps = step.steps_in_budget;
  const double host = steps * static_cast<double>(rehearsal.trained.train.tokens_per_step) /
                      HostRate(rehearsal, parts);
  std::fprintf(stderr, "on %s: %s; %.3f s a step (%.3f to %.3f), about %s steps in %s\n",
               whole.machine.name.c_str(), ModelText(whole).c_str(), step.seconds, step.low,
               step.high, FormatCount(steps).c_str(), FormatDuration(whole.train.budget).c_str());
  if (rehearsal.miniature()) {
    std::fprintf(stderr, "here: a MINIATURE of it, %s; its score is not the recipe's\n",
                 ModelText(rehearsal.trained).c_str());
  }
  std::fprintf(stderr,
               "this machine takes about %s for them. Ctrl-C stops at any time; go on with: "
               "windtunnel rehearse --resume %s\n",
               FormatDuration(host).c_str(), run.c_str());
}

Json ChipJson(const Rehearsal& rehearsal, const price::StepPrice& step, const Json& result) {
  return {{"machine", rehearsal.whole.machine.name},
          {"rules", rehearsal.whole.clock.rules},
          {"step_seconds", step.seconds},
          {"step_seconds_low", step.low},
          {"step_seconds_high", step.high},
          {"steps", result["steps"]},
          {"tokens", result["tokens"].get<int64_t>() * rehearsal.token_scale},
          {"charged_seconds", result["charged_seconds"]},
          {"counted_seconds", result["counted_seconds"]},
          {"miniature", rehearsal.miniature()},
          {"token_scale", rehearsal.token_scale}};
}

void PrintRehearsal(const Json& result, const std::string& run) {
  const Json& chip = result["chip"];
  const auto of_chip = [&](const char* key) { return chip.at(key).get<double>(); };
  std::vector<std::pair<std::string, std::string>> rows = {
      {"model", FormatCount(result["parameters"].get<double>()) + " parameters" +
                    (chip["miniature"].get<bool>() ? ", a MINIATURE of the recipe" : "")},
      {"steps", fmt::format("{}, {} tokens on the chip", chip["steps"].get<int64_t>(),
                            FormatCount(of_chip("tokens")))},
      {"charged",
       fmt::format("{} on {}, of which {} count; {:.3f} s a step",
                   FormatDuration(of_chip("charged_seconds")), chip["machine"].get<std::string>(),
                   FormatDuration(of_chip("counted_seconds")), of_chip("step_seconds"))},
      {"budget", FormatDuration(result["budget_seconds"].get<double>()) + ", ended by " +
                     result["stopped"].get<std::string>()},
      {"train loss", fmt::format("{:.4f} nats/token", result["train_loss"].get<double>())}};
  if (result.contains("bpb")) {
    rows.push_back({"val_bpb", fmt::format("{:.4f}", result["bpb"]["val_bpb"].get<double>())});
  }
  rows.push_back({"saved in", run + "   (ledger.jsonl has every charge)"});
  PrintTable(rows);
}

void RunRehearse(const RehearseArguments& arguments, double start) {
  CatchStopSignals();
  const bool resume = !arguments.resume.empty();
  std::optional<train::RunFolder> folder;
  if (resume) folder.emplace(ValueOrExit(train::RunFolder::Open(arguments.resume)));
  const Rehearsal rehearsal = resume ? OldRehearsal(*folder) : NewRehearsal(arguments);
  if (rehearsal.trained.train.threads > 0)
    SetThreads(static_cast<int>(rehearsal.trained.train.threads));
  const nn::ModelFunction model =
      ValueOrExit(train::ResolveModel(resume ? train::ModelFileOf(folder->path()) : arguments.model,
                                      train::FindPlaces().cache + "/models"));
  const auto prices =
      ValueOrExit(train::RecipePrices::Create(rehearsal.whole, model, rehearsal.token_scale));
  if (!resume) folder.emplace(MakeFolder(arguments, rehearsal));
  const std::string run = folder->path();
  const RunParts parts = OpenRunParts(rehearsal.trained, run);
  Announce(rehearsal, prices->full_step(), parts, run);

  TrainingOptions options;
  options.start = start;
  options.resume = resume;
  options.score = !arguments.no_eval;
  options.command = "rehearse";
  options.prices = prices;
  Json result = TrainAndScore(rehearsal.trained, std::move(*folder), parts, options);
  for (const char* key : {"tokens_per_second", "flops_per_second", "share_of_matrix_peak"})
    result.erase(key);  // of the chip's seconds and this machine's work: of nothing
  result["chip"] = ChipJson(rehearsal, prices->full_step(), result);
  ExitOn(UpdateResult(run, {{"chip", result["chip"]}}));
  if (arguments.json) return PrintJson(result);
  PrintRehearsal(result, run);
}

}  // namespace

void AddRehearseCommand(CLI::App* app) {
  const double start = train::SystemTime().monotonic();
  CLI::App* command = app->add_subcommand(
      "rehearse", "train a recipe for real until the chip's time for it is spent");
  const auto arguments = std::make_shared<RehearseArguments>();
  CLI::Option* recipe = command->add_option("RECIPE", arguments->recipe, "recipe file (TOML)");
  command->add_option("--set", arguments->overrides, "override a key: --set model.depth=4")
      ->allow_extra_args(false);
  command->add_option("--scale", arguments->scale,
                      "train a declared miniature: this share of the heads and layers");
  command
      ->add_option("--rules", arguments->rules,
                   "which seconds count, where the recipe does not say (data/contests; none)")
      ->capture_default_str();
  command->add_option("--run", arguments->run, "run folder to make (runs/RECIPE-TIME)");
  command->add_option("--resume", arguments->resume, "go on with this run folder")
      ->excludes(recipe);
  command->add_option("--model", arguments->model,
                      "C++ model file in place of the built-in family");
  command->add_flag("--no-eval", arguments->no_eval, "do not score at the end");
  command->add_flag("--json", arguments->json, "print the result as one JSON object");
  command->footer(
      "Examples:\n"
      "  windtunnel rehearse recipes/nano.toml\n"
      "  windtunnel rehearse recipes/baseline.toml --scale 0.2\n"
      "  nohup windtunnel rehearse recipes/baseline.toml --run runs/tonight &");
  command->callback([arguments, start] {
    if (arguments->recipe.empty() == arguments->resume.empty()) {
      ExitOn(Error(Code::kInvalidArgument, "rehearse: give a RECIPE, or --resume RUN"));
    }
    RunRehearse(*arguments, start);
  });
}

}  // namespace wt::cli
