#include "cli/eval_command.h"

#include "base/text_util.h"
#include "cli/commands.h"

namespace wt::cli {
namespace {

struct BpbArguments {
  std::string run;
  std::string layout;
  int64_t tokens = 0, context = 0, rows = 0;
  int ranks = 0;
  bool json = false;
};

void Override(const BpbArguments& arguments, eval::BpbOptions* options) {
  if (arguments.tokens > 0) options->tokens = arguments.tokens;
  if (arguments.context > 0) options->context = arguments.context;
  if (arguments.rows > 0) options->rows = arguments.rows;
  if (arguments.ranks > 0) options->ranks = arguments.ranks;
  if (!arguments.layout.empty()) options->layout = ValueOrExit(text::ParseLayout(arguments.layout));
}

void RunBpb(const BpbArguments& arguments) {
  CatchStopSignals();
  const train::Places places = train::FindPlaces();
  train::LoadedRun run = ValueOrExit(train::LoadRun(arguments.run, places));
  const text::Dataset data = OpenRecipeData(run.recipe, places);
  if (data.tokenizer.hash() != run.state.tokenizer_hash) {
    ExitOn(Error(Code::kMismatch,
                 "{} was trained with tokenizer {}… and this corpus gives {}…; set data.tokenizer "
                 "in {}/recipe.toml "
                 "to the one it was trained with",
                 arguments.run, run.state.tokenizer_hash.substr(0, 12),
                 data.tokenizer.hash().substr(0, 12), arguments.run));
  }
  eval::BpbOptions options = BpbOptionsOf(run.recipe);
  Override(arguments, &options);
  StageLine line;
  const auto progress = [&](int64_t done, int64_t planned) {
    return line(fmt::format("eval: {} of {} tokens", done, planned));
  };
  const eval::BpbResult result = ValueOrExit(eval::EvaluateBpb(
      run.recipe.model, run.model, run.weights.get(), data.val, data.tokenizer, options, progress));
  line.Clear();
  ExitOn(UpdateResult(arguments.run, {{"bpb", BpbJson(result)}}));
  if (arguments.json) return PrintJson(BpbJson(result));
  std::printf("val_bpb %s\n", BpbText(result).c_str());
  if (result.short_of_tokens) {
    std::printf("  the validation text ended before the %s tokens asked for\n",
                FormatCount(static_cast<double>(options.tokens)).c_str());
  }
}

}  // namespace

eval::BpbOptions BpbOptionsOf(const train::Recipe& recipe) {
  eval::BpbOptions options;
  options.layout = recipe.eval.layout == train::DataLayout::kStream ? text::Layout::kStream
                                                                    : text::Layout::kBestFit;
  options.tokens = recipe.eval.tokens;
  options.context = recipe.eval_context();
  options.rows = recipe.eval.rows;
  options.ranks = static_cast<int>(recipe.eval.ranks);
  return options;
}

Json BpbJson(const eval::BpbResult& result) {
  return {{"val_bpb", result.val_bpb()},       {"nats", result.totals.nats},
          {"bytes", result.totals.bytes},      {"tokens", result.totals.tokens},
          {"context", result.options.context}, {"loader", text::LayoutName(result.options.layout)},
          {"ranks", result.options.ranks},     {"tokens_asked", result.options.tokens},
          {"seconds", result.seconds}};
}

std::string BpbText(const eval::BpbResult& result) {
  return fmt::format("{:.4f}  ({:.1f} nats, {} bytes, {} tokens; context {}, {}, {} rank{})",
                     result.val_bpb(), result.totals.nats, result.totals.bytes,
                     result.totals.tokens, result.options.context,
                     text::LayoutName(result.options.layout), result.options.ranks,
                     result.options.ranks == 1 ? "" : "s");
}

train::EvalRow BpbRow(const eval::BpbResult& result) {
  train::EvalRow row;
  row.val_bpb = result.val_bpb();
  row.nats = result.totals.nats;
  row.bytes = result.totals.bytes;
  row.scored_tokens = result.totals.tokens;
  row.context = result.options.context;
  row.ranks = result.options.ranks;
  row.layout = text::LayoutName(result.options.layout);
  return row;
}

void AddEvalCommand(CLI::App* app) {
  CLI::App* eval = app->add_subcommand("eval", "score a trained model");
  eval->require_subcommand(1);
  CLI::App* bpb =
      eval->add_subcommand("bpb", "validation bits per byte, counted as the contest does");
  const auto arguments = std::make_shared<BpbArguments>();
  bpb->add_option("RUN", arguments->run, "run folder")->required();
  bpb->add_option("--tokens", arguments->tokens, "validation tokens to score (eval.tokens)");
  bpb->add_option("--context", arguments->context, "tokens of a row (eval.context)");
  bpb->add_option("--layout", arguments->layout, "stream or best_fit (eval.layout)");
  bpb->add_option("--ranks", arguments->ranks,
                  "ranks whose striding cuts the token set (eval.ranks)");
  bpb->add_option("--rows", arguments->rows,
                  "rows of a batch; does not change the score (eval.rows)");
  bpb->add_flag("--json", arguments->json, "print one JSON object");
  bpb->footer("Example:\n  windtunnel eval bpb runs/nano-1 --tokens 2097152 --ranks 8");
  bpb->callback([arguments] { RunBpb(*arguments); });
  AddCoreCommand(eval);
}

}  // namespace wt::cli
