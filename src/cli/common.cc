#include "cli/common.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "base/files.h"

namespace wt::cli {
namespace {

std::atomic<int> stop_signals{0};

void OnSignal(int) {
  if (stop_signals.fetch_add(1) > 0) _exit(130);
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void ExitOn(const Status& status) {
  if (status.ok()) return;
  std::fflush(stdout);
  std::fprintf(stderr, "windtunnel: %s\n", status.message().c_str());
  throw CLI::RuntimeError(status.code() == Code::kInterrupted ? 130 : 1);
}

void CatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool StopRequested() { return stop_signals.load() > 0; }

void PrintTable(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t width = 0;
  for (const auto& [name, value] : rows) width = std::max(width, name.size());
  for (const auto& [name, value] : rows) {
    std::printf("  %-*s  %s\n", static_cast<int>(width), name.c_str(), value.c_str());
  }
}

void PrintJson(const Json& json) { std::printf("%s\n", json.dump(2).c_str()); }

void StageLine::Clear() {
  if (std::exchange(drawn_, false)) std::fputs("\r\033[K", stderr);
}

bool StageLine::operator()(const std::string& line) {
  const bool live = isatty(2);
  if (const double now = Seconds(); now - shown_at_ >= (live ? 0.1 : 5.0)) {
    shown_at_ = now;
    drawn_ = live;
    std::fprintf(stderr, live ? "\r\033[K%s" : "%s\n", line.c_str());
  }
  return !StopRequested();
}

text::Dataset OpenRecipeData(const train::Recipe& recipe, const train::Places& places) {
  text::DatasetOptions options = ValueOrExit(train::DatasetOptionsOf(recipe, places));
  StageLine line;
  options.progress = [&line](const std::string& text) { return line(text); };
  return ValueOrExit(text::OpenDataset(options));
}

text::Tokenizer TokenizerOf(const train::LoadedRun& run, const train::Places& places) {
  const text::DatasetOptions options = ValueOrExit(train::DatasetOptionsOf(run.recipe, places));
  text::Tokenizer tokenizer = ValueOrExit(text::OpenTokenizer(options));
  if (tokenizer.hash() != run.state.tokenizer_hash) {
    ExitOn(Error(Code::kMismatch, "{} was trained with another tokenizer than {} has now",
                 run.folder, options.corpus.name));
  }
  return tokenizer;
}

Status UpdateResult(const std::string& run_folder, const Json& fields) {
  const std::string path = run_folder + "/result.json";
  Json result = Json::object();
  if (const Result<std::string> text = ReadFile(path); text.ok()) {
    result = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!result.is_object()) result = Json::object();
  }
  result.update(fields);
  return WriteFileAtomic(path, result.dump(2) + "\n");
}

}  // namespace wt::cli
