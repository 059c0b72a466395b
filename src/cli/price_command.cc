// windtunnel price: what a recipe's step costs on the chip, and where the time goes.
#include "base/files.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "price/price_html.h"
#include "price/price_text.h"
#include "train/price_recipe.h"
#include "train/sweep.h"
#include "train/user_model.h"

namespace wt::cli {
namespace {

struct PriceArguments {
  std::string recipe, model, html;
  std::vector<std::string> overrides, sweeps;
  bool json = false, csv = false;
};

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void PrintCsv(const std::vector<train::SweepAxis>& axes, const std::vector<train::SweepRow>& rows) {
  std::string text;
  for (const train::SweepAxis& axis : axes) text += axis.key + ",";
  for (const train::SweepFigure& figure : train::SweepFigures())
    text += figure.name + std::string(",");
  text += "error\n";
  for (const train::SweepRow& row : rows) {
    for (const std::string& value : row.values) text += CsvField(value) + ",";
    for (const train::SweepFigure& figure : train::SweepFigures()) {
      text += (row.error.empty() ? fmt::format("{}", row.*figure.member) : "") + ",";
    }
    text += CsvField(row.error) + "\n";
  }
  std::printf("%s", text.c_str());
}

Json RowJson(const std::vector<train::SweepAxis>& axes, const train::SweepRow& row) {
  Json json = {{"set", Json::object()}};
  for (size_t i = 0; i < axes.size(); ++i) json["set"][axes[i].key] = row.values[i];
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  for (const train::SweepFigure& figure : train::SweepFigures())
    json[figure.name] = row.*figure.member;
  return json;
}

void PrintRows(const std::vector<train::SweepAxis>& axes,
               const std::vector<train::SweepRow>& rows) {
  for (const train::SweepRow& row : rows) {
    std::string text;
    for (size_t i = 0; i < axes.size(); ++i) text += axes[i].key + "=" + row.values[i] + " ";
    text += row.error.empty() ? fmt::format(
                                    " {:.3f} s ({:.3f} to {:.3f}), {:.0f} tokens/s, {:.0f} steps, "
                                    "{:.1f} % MFU",
                                    row.seconds, row.low, row.high, row.tokens_per_second,
                                    row.steps_in_budget, 100 * row.mfu)
                              : " no price: " + row.error;
    std::printf("%s\n", text.c_str());
  }
}

void RunSweeps(const PriceArguments& arguments, const nn::ModelFunction& model) {
  CatchStopSignals();
  train::SweepJob job;
  job.name = arguments.recipe;
  job.text = ValueOrExit(ReadFile(arguments.recipe));
  job.overrides = arguments.overrides;
  job.model = model;
  for (const std::string& sweep : arguments.sweeps)
    job.axes.push_back(ValueOrExit(train::ParseSweepAxis(sweep)));
  std::vector<train::SweepRow> rows;
  {
    StageLine line;
    job.progress = [&line](int64_t done, int64_t of) {
      return line(fmt::format("{} of {} recipes priced", done, of));
    };
    rows = ValueOrExit(train::RunSweep(job));
  }
  if (arguments.csv) return PrintCsv(job.axes, rows);
  if (!arguments.json) return PrintRows(job.axes, rows);
  Json json = Json::array();
  for (const train::SweepRow& row : rows) json.push_back(RowJson(job.axes, row));
  PrintJson({{"rows", json}});
}

void WritePage(const PriceArguments& arguments, const price::StepPrice& price,
               const price::StepSetup& setup) {
  const price::Pricing pricing = ValueOrExit(price::LoadPricing("compiled"));
  const auto machine = ValueOrExit(chip::Machine::Load(setup.machine.name));
  std::string name = std::filesystem::path(arguments.recipe).stem().string();
  for (const std::string& setting : arguments.overrides) name += ", " + setting;
  ExitOn(WriteFileAtomic(arguments.html, price::PriceHtml(name, price, setup, pricing, *machine)));
  std::fprintf(stderr, "page: %s\n", arguments.html.c_str());
}

void RunPrice(const PriceArguments& arguments) {
  const nn::ModelFunction model =
      ValueOrExit(train::ResolveModel(arguments.model, train::FindPlaces().cache + "/models"));
  if (!arguments.sweeps.empty()) return RunSweeps(arguments, model);
  const train::Recipe recipe =
      ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  StageLine line;
  const price::StepPrice price = ValueOrExit(
      train::PriceRecipe(recipe, model, [&line](size_t done, size_t total, const std::string& op) {
        if (done < total) line(fmt::format("kernel {} of {}: {}", done + 1, total, op));
      }));
  line.Clear();
  const price::StepSetup setup = ValueOrExit(train::PriceSetupOf(recipe));
  if (!arguments.html.empty()) WritePage(arguments, price, setup);
  if (arguments.json) return PrintJson(price::PriceJson(price));
  std::printf("%s", price::PriceText(price, setup).c_str());
}

}  // namespace

void AddPriceCommand(CLI::App* app) {
  auto arguments = std::make_shared<PriceArguments>();
  CLI::App* command =
      app->add_subcommand("price", "what a step of a recipe costs on the chip, and why");
  command->add_option("recipe", arguments->recipe, "a recipe file")->required();
  command->add_option("--set", arguments->overrides, "change a key: table.key=value");
  CLI::Option* sweep = command->add_option(
      "--sweep", arguments->sweeps,
      "price every value of a key: table.key=v1,v2,…; several make all combinations");
  command->add_option("--html", arguments->html, "write a page with plots to this file")
      ->excludes(sweep);
  command->add_option("--model", arguments->model, "a model file of your own (.cc)");
  CLI::Option* json = command->add_flag("--json", arguments->json, "print JSON, with every op");
  command->add_flag("--csv", arguments->csv, "print a sweep as CSV")->needs(sweep)->excludes(json);
  command->footer(
      "Example:\n"
      "  windtunnel price recipes/baseline.toml --sweep model.depth=8,9,10 --sweep "
      "model.width=640,768,1024 --csv");
  command->callback([arguments] { RunPrice(*arguments); });
}

}  // namespace wt::cli
