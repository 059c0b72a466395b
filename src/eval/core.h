// CORE: all tasks of the list asked of a model, aggregated as nanochat does. With every file of the
// bundle right the score is CORE; with fewer tasks it is CORE-n, and says which.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/core_score.h"

namespace wt::eval {

struct CoreOptions {
  std::string bundle;
  int64_t max_per_task = -1;      // <= 0: all examples
  int64_t truncate = 0;           // keep this many last tokens of a prompt; 0: all
  std::vector<std::string> only;  // labels; empty: all
  std::string answers_path;       // JSON lines of answers so far, resumed from; "": none
};

struct CoreTaskResult {
  CoreTask task;
  std::string missing;  // why it has no score; "" when it has one
  std::vector<CoreAnswer> answers;
  double accuracy = 0, centered = 0;
  double low = 0, high = 0;  // 95 % bootstrap interval of the accuracy
};

struct CoreResult {
  std::vector<CoreTaskResult> tasks;  // in the list's order
  CoreOptions options;
  double value = 0, low = 0, high = 0;  // mean of centered accuracies, and its 95 % interval
  int64_t scored = 0;                   // tasks that have a score
  int64_t prompt_tokens = 0, tokens_run = 0;
  double seconds = 0;

  std::string name() const;  // "CORE", or "CORE-19"
};

struct CoreProgress {
  std::string label;                // the task at work
  int64_t tokens = 0, planned = 0;  // of the task's prompts: scored, and in all
  double seconds = 0;               // since the task began
  size_t task = 0, tasks = 0;       // its place in the list, and how many there are
};

// Fails where nothing can be scored: no bundle, a wrong label, an answers file that cannot be
// written. What concerns one task (a file, a prompt too long, losses that are not finite) is named
// in its result and leaves the others alone. `progress` false stops with kInterrupted; answers so
// far are in the answers file.
Result<CoreResult> EvaluateCore(const nn::ModelConfig& config, const nn::ModelFunction& model,
                                nn::TensorStore* weights, const text::Tokenizer& tokenizer,
                                const std::string& home, const CoreOptions& options,
                                const std::function<bool(const CoreProgress&)>& progress = {});

// nanochat's layout: three padded columns, the score in the last row.
std::string CoreCsv(const CoreResult& result);

}  // namespace wt::eval
