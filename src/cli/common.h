// What every command shares: errors to exit codes, Ctrl-C, tables, JSON, and opening a recipe's
// data.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "train/run_source.h"

namespace wt::cli {

using Json = nlohmann::ordered_json;

// Prints "windtunnel: …" to stderr and leaves with the exit code of the failure (130 for an
// interruption, else 1). Does nothing for an ok status.
void ExitOn(const Status& status);
template <class T>
T ValueOrExit(Result<T> result) {
  ExitOn(result.status());
  return std::move(result).value();
}

// From now on Ctrl-C and SIGTERM ask for a stop instead of ending the process; a second one ends
// it.
void CatchStopSignals();
bool StopRequested();

// Two columns, the first one padded.
void PrintTable(const std::vector<std::pair<std::string, std::string>>& rows);
void PrintJson(const Json& json);

// Shows lines of long work on stderr: redrawn on a terminal, a line each five seconds elsewhere.
class StageLine {
 public:
  ~StageLine() { Clear(); }
  // False when the user asked to stop.
  bool operator()(const std::string& line);
  // Takes a redrawn line away.
  void Clear();

 private:
  double shown_at_ = -1e9;
  bool drawn_ = false;
};

text::Dataset OpenRecipeData(const train::Recipe& recipe, const train::Places& places);

// The tokenizer that the run's recipe names; it must be the one that the run was trained with.
text::Tokenizer TokenizerOf(const train::LoadedRun& run, const train::Places& places);

// Merges `fields` into RUN/result.json.
Status UpdateResult(const std::string& run_folder, const Json& fields);

}  // namespace wt::cli
