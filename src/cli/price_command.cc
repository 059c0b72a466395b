// windtunnel price: what a recipe's step costs on the chip, and where the time goes.
#include "cli/commands.h"
#include "cli/common.h"
#include "price/price_text.h"
#include "train/price_recipe.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

struct PriceArguments {
  std::string recipe, model;
  std::vector<std::string> overrides;
  bool json = false;
};

// One line that is written over, on a screen or in a log's last line.
void ShowProgress(size_t done, size_t total, const std::string& op) {
  if (done == total) {
    std::fprintf(stderr, "\r%-60s\r", "");
  } else {
    std::fprintf(stderr, "\r%-60s",
                 fmt::format("kernel {} of {}: {}", done + 1, total, op).c_str());
  }
  std::fflush(stderr);
}

void RunPrice(const PriceArguments& arguments) {
  const train::Recipe recipe =
      ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  const nn::ModelFunction model =
      ValueOrExit(train::ResolveModel(arguments.model, train::FindPlaces().cache + "/models"));
  const price::StepPrice price = ValueOrExit(train::PriceRecipe(recipe, model, ShowProgress));
  if (arguments.json) return PrintJson(price::PriceJson(price));
  const price::StepSetup setup = ValueOrExit(train::PriceSetupOf(recipe));
  std::printf("%s", price::PriceText(price, setup).c_str());
}

}  // namespace

void AddPriceCommand(CLI::App* app) {
  auto arguments = std::make_shared<PriceArguments>();
  CLI::App* command =
      app->add_subcommand("price", "what a step of a recipe costs on the chip, and why");
  command->add_option("recipe", arguments->recipe, "a recipe file")->required();
  command->add_option("--set", arguments->overrides, "change a key: table.key=value");
  command->add_option("--model", arguments->model, "a model file of your own (.cc)");
  command->add_flag("--json", arguments->json, "print JSON, with every op");
  command->callback([arguments] { RunPrice(*arguments); });
}

}  // namespace wt::cli
