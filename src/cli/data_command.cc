// windtunnel data: the corpora that are known, fetching them, and making a recipe's token files.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "text/fetch.h"

namespace wt::cli {
namespace {

struct FetchArguments {
  std::string name;
  int64_t shards = 1;
  bool json = false;
};

struct PrepareArguments {
  std::string recipe;
  std::vector<std::string> overrides;
  bool json = false;
};

std::vector<text::CorpusEntry> Corpora(const train::Places& places) {
  return ValueOrExit(text::ReadCorpusList(places.home + "/data/corpora.toml"));
}

void RunList(bool json) {
  const train::Places places = train::FindPlaces();
  Json list = Json::array();
  std::vector<std::pair<std::string, std::string>> rows;
  for (const text::CorpusEntry& entry : Corpora(places)) {
    const bool here = FileExists(places.cache + "/corpora/" + entry.name);
    list.push_back(
        {{"name", entry.name}, {"title", entry.title}, {"here", here}, {"licence", entry.licence}});
    rows.push_back({entry.name, entry.title + (here ? "  [here]" : "")});
  }
  json ? PrintJson(list) : PrintTable(rows);
}

std::string FetchLine(const text::FetchProgress& p) {
  const std::string total = p.file_total > 0 ? FormatBytes(static_cast<double>(p.file_total)) : "?";
  return fmt::format("{}: {} of {} ({} of {} files)", p.file,
                     FormatBytes(static_cast<double>(p.file_bytes)), total, p.files_done, p.files);
}

// Some corpora are made here by a program that comes with the list; it takes this process's place.
[[noreturn]] void RunBuilder(const text::CorpusEntry& entry, const train::Places& places,
                             const std::string& folder) {
  const std::string builder = places.home + "/" + entry.builder;
  execl(builder.c_str(), builder.c_str(), folder.c_str(), nullptr);
  ExitOn(Error(Code::kIo, "cannot start {}: {}", builder, std::strerror(errno)));
  std::abort();
}

void RunFetch(const FetchArguments& arguments) {
  const train::Places places = train::FindPlaces();
  const text::CorpusEntry entry = ValueOrExit(text::FindCorpus(Corpora(places), arguments.name));
  const std::string folder = places.cache + "/corpora/" + entry.name;
  if (!entry.builder.empty()) RunBuilder(entry, places, folder);
  CatchStopSignals();
  StageLine line;
  text::FetchOptions options;
  options.shards = arguments.shards;
  options.progress = [&](const text::FetchProgress& progress) { line(FetchLine(progress)); };
  options.stopped = StopRequested;
  ExitOn(text::FetchCorpus(entry, folder, options));
  line.Clear();
  if (arguments.json) return PrintJson({{"name", entry.name}, {"folder", folder}});
  std::printf("%s is in %s\n", entry.name.c_str(), folder.c_str());
}

void RunPrepare(const PrepareArguments& arguments) {
  CatchStopSignals();
  const train::Recipe recipe =
      ValueOrExit(train::LoadRecipe(arguments.recipe, arguments.overrides));
  const text::Dataset data = OpenRecipeData(recipe, train::FindPlaces());
  const auto side = [](const text::TokenSet& set) {
    return Json{
        {"documents", set.documents()}, {"tokens", set.tokens()}, {"bytes", set.raw_bytes()}};
  };
  if (arguments.json) {
    return PrintJson({{"tokenizer", data.tokenizer.hash()},
                      {"vocab_size", data.tokenizer.vocab_size()},
                      {"train", side(data.train)},
                      {"val", side(data.val)},
                      {"folder", data.folder}});
  }
  const auto text = [](const text::TokenSet& set) {
    return fmt::format("{} documents, {} tokens, {}", set.documents(),
                       FormatCount(static_cast<double>(set.tokens())),
                       FormatBytes(static_cast<double>(set.raw_bytes())));
  };
  PrintTable({{"train", text(data.train)},
              {"val", text(data.val)},
              {"bytes/token", fmt::format("{:.2f}", static_cast<double>(data.train.raw_bytes()) /
                                                        static_cast<double>(data.train.tokens()))},
              {"token files", data.folder}});
}

}  // namespace

void AddDataCommand(CLI::App* app) {
  CLI::App* data = app->add_subcommand("data", "corpora: list, fetch, prepare");
  data->require_subcommand(1);

  CLI::App* list = data->add_subcommand("list", "corpora that can be named in a recipe");
  const auto json = std::make_shared<bool>(false);
  list->add_flag("--json", *json, "print a JSON array");
  list->footer("Example:\n  windtunnel data list");
  list->callback([json] { RunList(*json); });

  CLI::App* fetch =
      data->add_subcommand("fetch", "download a public corpus; goes on where it was cut off");
  const auto fetch_arguments = std::make_shared<FetchArguments>();
  fetch->add_option("NAME", fetch_arguments->name, "a name of `windtunnel data list`")->required();
  fetch
      ->add_option("--shards", fetch_arguments->shards,
                   "training shards; validation comes on top; -1: all")
      ->capture_default_str();
  fetch->add_flag("--json", fetch_arguments->json, "print one JSON object");
  fetch->footer("Example:\n  windtunnel data fetch climbmix --shards 5");
  fetch->callback([fetch_arguments] { RunFetch(*fetch_arguments); });

  CLI::App* prepare =
      data->add_subcommand("prepare", "make the tokenizer and token files of a recipe");
  const auto prepare_arguments = std::make_shared<PrepareArguments>();
  prepare->add_option("RECIPE", prepare_arguments->recipe, "recipe file (TOML)")->required();
  prepare->add_option("--set", prepare_arguments->overrides, "override a key (repeatable)")
      ->allow_extra_args(false);
  prepare->add_flag("--json", prepare_arguments->json, "print one JSON object");
  prepare->footer(
      "Example:\n  windtunnel data prepare recipes/nano.toml --set data.corpus='books/*.txt'");
  prepare->callback([prepare_arguments] { RunPrepare(*prepare_arguments); });
}

}  // namespace wt::cli
