// windtunnel compare: what changed between two recipes or runs, and what that costs on the chip.
#include "base/files.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "price/compare.h"
#include "train/price_recipe.h"
#include "train/recipe_changes.h"
#include "train/run_folder.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

struct CompareArguments {
  std::string before, after;
  std::vector<std::string> overrides;  // of the second
  bool json = false;
};

struct Side {
  std::string name;
  train::Recipe recipe;
  price::StepPrice price;
  Json result;  // of a run; null for a recipe
};

// A rehearsal of a miniature keeps what it was priced by beside what it trained.
std::string RecipeFileOf(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  const std::string priced = path + "/priced.toml";
  return std::filesystem::exists(priced) ? priced : path + "/recipe.toml";
}

Json ResultOf(const std::string& path) {
  const Result<std::string> text = ReadFile(path + "/result.json");
  Json result = text.ok() ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  return result.is_object() ? result : Json();
}

Side OpenSide(const std::string& path, const std::vector<std::string>& overrides) {
  Side side;
  side.name = path;
  side.recipe = ValueOrExit(train::LoadRecipe(RecipeFileOf(path), overrides));
  const bool run = std::filesystem::is_directory(path);
  if (run) side.result = ResultOf(path);
  const nn::ModelFunction model = ValueOrExit(train::ResolveModel(
      run ? train::ModelFileOf(path) : "", train::FindPlaces().cache + "/models"));
  side.price = ValueOrExit(train::PriceRecipe(side.recipe, model));
  return side;
}

std::optional<double> Score(const Side& side) {
  if (!side.result.is_object() || !side.result.contains("bpb")) return std::nullopt;
  return side.result["bpb"].value("val_bpb", 0.0);
}

Json SideJson(const Side& side) {
  const price::StepPrice& p = side.price;
  Json json = {{"name", side.name},
               {"step_seconds", p.seconds},
               {"step_seconds_low", p.low},
               {"step_seconds_high", p.high},
               {"tokens_per_second", p.tokens_per_second},
               {"steps_in_budget", p.steps_in_budget},
               {"tokens_in_budget", p.tokens_in_budget},
               {"hbm_bytes_peak", p.hbm.peak}};
  if (const auto score = Score(side)) json["val_bpb"] = *score;
  if (side.result.is_object()) json["steps_run"] = side.result.value("steps", 0);
  return json;
}

void PrintSides(const Side& a, const Side& b) {
  const auto row = [](const char* name, const std::string& before, const std::string& after,
                      const std::string& change) {
    std::printf("  %-12s%28s%28s  %s\n", name, before.c_str(), after.c_str(), change.c_str());
  };
  const auto share = [](double before, double after) {
    return before > 0 ? fmt::format("{:+.1f} %", 100 * (after / before - 1)) : "";
  };
  const auto step = [](const price::StepPrice& p) {
    return fmt::format("{:.3f} s ({:.3f} to {:.3f})", p.seconds, p.low, p.high);
  };
  row("step", step(a.price), step(b.price), share(a.price.seconds, b.price.seconds));
  const auto counts = [&](const char* name, double before, double after) {
    row(name, FormatCount(before), FormatCount(after), share(before, after));
  };
  counts("tokens/s", a.price.tokens_per_second, b.price.tokens_per_second);
  row("steps", fmt::format("{:.0f}", a.price.steps_in_budget),
      fmt::format("{:.0f}", b.price.steps_in_budget),
      share(a.price.steps_in_budget, b.price.steps_in_budget) + " in the budget");
  counts("tokens", a.price.tokens_in_budget, b.price.tokens_in_budget);
  row("HBM", FormatBytes(a.price.hbm.peak), FormatBytes(b.price.hbm.peak),
      share(a.price.hbm.peak, b.price.hbm.peak));
  const auto before = Score(a), after = Score(b);
  const auto text = [](const std::optional<double>& score) {
    return score ? fmt::format("{:.4f}", *score) : "not scored";
  };
  if (before || after)
    row("val_bpb", text(before), text(after),
        before && after ? fmt::format("{:+.4f}", *after - *before) : "");
}

void PrintKeys(const std::vector<train::KeyChange>& keys) {
  if (keys.empty()) std::printf("  no key differs\n");
  for (const train::KeyChange& key : keys) {
    std::printf("  %s: %s -> %s\n", key.key.c_str(), key.before.c_str(), key.after.c_str());
  }
}

void RunCompare(const CompareArguments& arguments) {
  const Side a = OpenSide(arguments.before, {});
  const Side b = OpenSide(arguments.after, arguments.overrides);
  const std::vector<train::KeyChange> keys = train::ChangedKeys(a.recipe, b.recipe);
  const price::Pricing pricing = ValueOrExit(price::LoadPricing("compiled"));
  const price::PriceChange change = price::ComparePrices(a.price, b.price, pricing);
  if (!arguments.json) {
    std::printf("%s -> %s\n", a.name.c_str(), b.name.c_str());
    PrintKeys(keys);
    std::printf("\n");
    PrintSides(a, b);
    std::printf("\n%s", price::ChangeText(change).c_str());
    return;
  }
  Json json = {{"before", SideJson(a)}, {"after", SideJson(b)}, {"keys", Json::array()}};
  for (const train::KeyChange& key : keys) {
    json["keys"].push_back({{"key", key.key}, {"before", key.before}, {"after", key.after}});
  }
  json["price_change"] = price::ChangeJson(change);
  if (Score(a) && Score(b)) json["val_bpb_change"] = *Score(b) - *Score(a);
  PrintJson(json);
}

}  // namespace

void AddCompareCommand(CLI::App* app) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app->add_subcommand(
      "compare", "what changed between two recipes or runs, and what it costs on the chip");
  command->add_option("before", arguments->before, "a recipe file or a run folder")->required();
  command->add_option("after", arguments->after, "another, or the same with --set")->required();
  command->add_option("--set", arguments->overrides, "change a key of the second: table.key=value");
  command->add_flag("--json", arguments->json, "print JSON, with every op that differs");
  command->footer(
      "Examples:\n"
      "  windtunnel compare recipes/baseline.toml recipes/baseline.toml --set model.kv_heads=1\n"
      "  windtunnel compare runs/monday runs/tuesday");
  command->callback([arguments] { RunCompare(*arguments); });
}

}  // namespace wt::cli
