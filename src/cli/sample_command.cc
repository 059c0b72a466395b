// windtunnel sample: text from a run's weights, printed as it comes.
#include "cli/commands.h"
#include "cli/common.h"
#include "eval/sample.h"

namespace wt::cli {
namespace {

struct SampleArguments {
  std::string run, prompt;
  int64_t tokens = 120;
  eval::SampleOptions options;
  bool json = false;
};

void RunSample(const SampleArguments& arguments) {
  CatchStopSignals();
  const train::Places places = train::FindPlaces();
  train::LoadedRun run = ValueOrExit(train::LoadRun(arguments.run, places));
  const text::Tokenizer tokenizer = TokenizerOf(run, places);
  eval::Sampler sampler(run.recipe.model, run.model, run.weights.get(), arguments.options);
  std::vector<int32_t> tokens = {tokenizer.bos()};
  tokenizer.Encode(arguments.prompt, &tokens);
  const size_t first = tokens.size();
  if (!arguments.json) std::printf("%s", arguments.prompt.c_str());
  for (int64_t i = 0; i < arguments.tokens && !StopRequested(); ++i) {
    ExitOn(sampler.Next(&tokens));
    if (tokens.back() == tokenizer.bos()) break;
    if (arguments.json) continue;
    std::printf("%s", std::string(tokenizer.TokenBytes(tokens.back())).c_str());
    std::fflush(stdout);
  }
  const std::span<const int32_t> made(tokens.data() + first, tokens.size() - first);
  if (!arguments.json) return void(std::printf("\n"));
  // Bytes that are no valid UTF-8, as an unfinished token may be, are replaced in JSON.
  const Json json = {
      {"prompt", arguments.prompt}, {"text", tokenizer.Decode(made)}, {"tokens", made.size()}};
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

void AddSampleCommand(CLI::App* app) {
  CLI::App* sample = app->add_subcommand("sample", "continue a text with a trained model");
  const auto arguments = std::make_shared<SampleArguments>();
  sample->add_option("RUN", arguments->run, "run folder")->required();
  sample->add_option("--prompt", arguments->prompt, "text to continue");
  sample->add_option("--tokens", arguments->tokens, "tokens to add")->capture_default_str();
  sample
      ->add_option("--temperature", arguments->options.temperature,
                   "0 takes the most probable token")
      ->capture_default_str();
  sample->add_option("--top-k", arguments->options.top_k, "draw among the k most probable; 0: all")
      ->capture_default_str();
  sample
      ->add_option("--top-p", arguments->options.top_p,
                   "draw among the fewest tokens whose probabilities add up to this")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sample->add_option("--seed", arguments->options.seed, "of the draws")->capture_default_str();
  sample->add_flag("--json", arguments->json, "print one JSON object");
  sample->footer(
      "Example:\n  windtunnel sample runs/nano-1 --prompt \"It is a truth universally\"");
  sample->callback([arguments] { RunSample(*arguments); });
}

}  // namespace wt::cli
