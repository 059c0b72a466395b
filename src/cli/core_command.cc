// windtunnel eval core: CORE of a run's weights, on a bundle of nanochat's tasks.
#include "base/files.h"
#include "base/text_util.h"
#include "cli/eval_command.h"
#include "eval/core.h"

namespace wt::cli {
namespace {

struct CoreArguments {
  std::string run;
  eval::CoreOptions options;
  bool json = false;
};

std::string ProgressText(const eval::CoreProgress& p) {
  std::string left = "…";
  if (p.tokens > 0) {
    const double share = static_cast<double>(p.tokens) / static_cast<double>(p.planned);
    left = FormatDuration(p.seconds * (1 - share) / share) + " left";
  }
  return fmt::format("core: {} ({} of {}), {} of {} tokens, {}", p.label, p.task, p.tasks,
                     FormatCount(static_cast<double>(p.tokens)),
                     FormatCount(static_cast<double>(p.planned)), left);
}

Json CoreJson(const eval::CoreResult& result) {
  Json tasks = Json::array(), missing = Json::array();
  for (const eval::CoreTaskResult& row : result.tasks) {
    if (!row.missing.empty()) {
      missing.push_back({{"task", row.task.label}, {"why", row.missing}});
      continue;
    }
    tasks.push_back({{"task", row.task.label},
                     {"accuracy", row.accuracy},
                     {"centered", row.centered},
                     {"n", row.answers.size()},
                     {"low", row.low},
                     {"high", row.high}});
  }
  return {{"name", result.name()},
          {"value", result.value},
          {"low", result.low},
          {"high", result.high},
          {"max_per_task", result.options.max_per_task},
          {"truncate", result.options.truncate},
          {"tasks", tasks},
          {"missing", missing},
          {"prompt_tokens", result.prompt_tokens},
          {"tokens_run", result.tokens_run},
          {"seconds", result.seconds}};
}

void PrintCore(const eval::CoreResult& result) {
  std::printf("%-32s %7s %9s %17s %8s %9s\n", "task", "n", "accuracy", "95 % interval", "guessing",
              "centered");
  for (const eval::CoreTaskResult& row : result.tasks) {
    if (!row.missing.empty()) continue;
    std::printf("%-32s %7zu %9.4f [%.4f, %.4f] %8.3f %9.4f\n", row.task.label.c_str(),
                row.answers.size(), row.accuracy, row.low, row.high, row.task.baseline / 100,
                row.centered);
  }
  for (const eval::CoreTaskResult& row : result.tasks) {
    if (row.missing.empty()) continue;
    std::printf("%-32s no score: %s\n", row.task.label.c_str(), row.missing.c_str());
  }
  const std::string share =
      result.options.max_per_task > 0
          ? fmt::format("at most {} examples a task", result.options.max_per_task)
          : "all examples";
  std::printf("%s %.6f  [%.4f, %.4f]  (%s; %s)\n", result.name().c_str(), result.value, result.low,
              result.high, share.c_str(), FormatDuration(result.seconds).c_str());
  if (result.name() != "CORE") {
    std::printf("  %s is the mean over the tasks above; it is not CORE, which needs all %zu\n",
                result.name().c_str(), result.tasks.size());
  }
}

void RunCore(CoreArguments arguments) {
  CatchStopSignals();
  const train::Places places = train::FindPlaces();
  train::LoadedRun run = ValueOrExit(train::LoadRun(arguments.run, places));
  const text::Tokenizer tokenizer = TokenizerOf(run, places);
  arguments.options.answers_path = arguments.run + "/core_answers.jsonl";
  StageLine line;
  const auto progress = [&](const eval::CoreProgress& p) { return line(ProgressText(p)); };
  const eval::CoreResult result =
      ValueOrExit(eval::EvaluateCore(run.recipe.model, run.model, run.weights.get(), tokenizer,
                                     places.home, arguments.options, progress));
  line.Clear();
  if (result.scored == 0) {
    for (const eval::CoreTaskResult& row : result.tasks) {
      std::fprintf(stderr, "  %s: %s\n", row.task.label.c_str(), row.missing.c_str());
    }
    ExitOn(Error(Code::kNotFound, "no task of CORE could be scored"));
  }
  ExitOn(WriteFileAtomic(arguments.run + "/core.csv", eval::CoreCsv(result)));
  ExitOn(UpdateResult(arguments.run, {{"core", CoreJson(result)}}));
  if (arguments.json) return PrintJson(CoreJson(result));
  PrintCore(result);
}

}  // namespace

void AddCoreCommand(CLI::App* eval) {
  CLI::App* core = eval->add_subcommand(
      "core", "CORE: 22 tasks answered without training on them, as nanochat counts them");
  const auto arguments = std::make_shared<CoreArguments>();
  core->add_option("RUN", arguments->run, "run folder")->required();
  core->add_option("--bundle", arguments->options.bundle, "nanochat's eval_bundle folder")
      ->required();
  core->add_option("--max-per-task", arguments->options.max_per_task,
                   "ask only so many examples of each task; -1: all")
      ->capture_default_str();
  core->add_option("--tasks", arguments->options.only,
                   "labels, separated by commas; all by default")
      ->delimiter(',');
  core->add_option("--truncate", arguments->options.truncate,
                   "keep only the last so many tokens of a prompt; 0: all")
      ->capture_default_str();
  core->add_flag("--json", arguments->json, "print one JSON object");
  core->footer(
      "Answers are kept in RUN/core_answers.jsonl, so that a stopped evaluation goes on where it\n"
      "was; RUN/core.csv has nanochat's layout.\n"
      "Example:\n  windtunnel eval core runs/nano-1 --bundle eval_bundle --max-per-task 500");
  core->callback([arguments] { RunCore(*arguments); });
}

}  // namespace wt::cli
