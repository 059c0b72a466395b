#include "eval/core.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/text_util.h"
#include "eval/core_answers.h"

namespace wt::eval {
namespace {

constexpr int64_t kBatchTokens = 65536;  // prompt tokens of questions that are scored together
constexpr int64_t kStretch = 10;         // longest prompt in contexts, as nanochat's rotary table
constexpr int kResamples = 1000;
constexpr uint64_t kBootstrapSeed = 20240601;

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// What answers depend on besides the question.
train::Json KeyOf(nn::TensorStore* weights, const text::Tokenizer& tokenizer,
                  const CoreOptions& options) {
  std::string parts;
  for (const auto& [name, tensor] : weights->tensors()) {
    if (tensor.role != nn::Role::kParameter) continue;
    parts += name + Sha256({reinterpret_cast<const char*>(tensor.buffer.data()),
                            static_cast<size_t>(tensor.spec.bytes())});
  }
  return {{"weights", Sha256(parts)},
          {"tokenizer", tokenizer.hash()},
          {"max_per_task", options.max_per_task},
          {"truncate", options.truncate}};
}

Status CheckLabels(const std::vector<CoreTask>& tasks, const std::vector<std::string>& only) {
  std::vector<std::string> known;
  for (const CoreTask& task : tasks) known.push_back(task.label);
  for (const std::string& label : only) {
    if (std::find(known.begin(), known.end(), label) != known.end()) continue;
    const std::string nearest = NearestName(label, known);
    return Error(
        Code::kInvalidArgument, "CORE has no task '{}'{}", label,
        nearest.empty() ? "; it has " + Join(known, ", ") : "; did you mean " + nearest + "?");
  }
  return {};
}

class Evaluation {
 public:
  Evaluation(const nn::ModelConfig& config, const nn::ModelFunction& model,
             nn::TensorStore* weights, const text::Tokenizer& tokenizer, const CoreOptions& options,
             const std::function<bool(const CoreProgress&)>& progress)
      : config_(config),
        model_(model),
        weights_(weights),
        tokenizer_(tokenizer),
        options_(options),
        progress_(progress) {}

  Result<CoreResult> Run(const std::string& home) {
    CoreResult result;
    result.options = options_;
    WT_ASSIGN_OR_RETURN(const std::vector<CoreTask> tasks, LoadCoreTasks(home));
    WT_RETURN_IF_ERROR(CheckLabels(tasks, options_.only));
    WT_ASSIGN_OR_RETURN(bundle_, FindBundle(options_.bundle));
    WT_ASSIGN_OR_RETURN(
        answers_, CoreAnswers::Open(options_.answers_path, KeyOf(weights_, tokenizer_, options_)));
    for (const CoreTask& task : tasks) {
      CoreTaskResult& row = result.tasks.emplace_back();
      task_index_ = result.tasks.size();
      tasks_ = tasks.size();
      row.task = task;
      const bool wanted = options_.only.empty() ||
                          std::count(options_.only.begin(), options_.only.end(), task.label) > 0;
      const Status status = wanted ? RunTask(&row) : Error(Code::kNotFound, "not asked for");
      if (status.code() == Code::kInterrupted || status.code() == Code::kCapacity ||
          status.code() == Code::kIo) {
        return status;
      }
      row.missing = status.message();
      if (!status.ok()) row.answers.clear();
    }
    result.prompt_tokens = prompt_tokens_;
    result.tokens_run = tokens_run_ + (scorer_ ? scorer_->tokens_run() : 0);
    result.seconds = Seconds() - start_;
    return result;
  }

 private:
  Status RunTask(CoreTaskResult* row) {
    const CoreTask& task = row->task;
    WT_ASSIGN_OR_RETURN(const std::string text, ReadCoreFile(bundle_, task));
    WT_ASSIGN_OR_RETURN(std::vector<CoreExample> examples, ParseCoreExamples(text, task));
    OrderCoreExamples(options_.max_per_task, &examples);
    std::vector<int64_t> open;
    for (int64_t i = 0; i < static_cast<int64_t>(examples.size()); ++i) {
      if (!answers_.Find(task.label, i)) open.push_back(i);
    }
    WT_RETURN_IF_ERROR(Ask(task, examples, open));
    for (size_t i = 0; i < examples.size(); ++i) {
      row->answers.push_back(*answers_.Find(task.label, static_cast<int64_t>(i)));
    }
    return {};
  }

  // Questions are asked in the order of their prompts' tokens, so that those that begin alike meet.
  Status Ask(const CoreTask& task, const std::vector<CoreExample>& examples,
             const std::vector<int64_t>& open) {
    std::vector<CoreQuestion> questions(open.size());
    std::vector<Status> problems(open.size());
    const PromptLimits limits = {options_.truncate, kStretch * config_.context};
    ParallelFor(static_cast<int64_t>(open.size()), [&](int64_t i) {
      const auto k = static_cast<size_t>(i);
      auto made = MakeCoreQuestion(examples, open[k], task, tokenizer_, limits);
      problems[k] = made.status();
      if (made.ok()) questions[k] = std::move(*made);
    });
    for (const Status& problem : problems) WT_RETURN_IF_ERROR(problem);
    std::vector<size_t> order(open.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto &x = questions[a].prompts[0].tokens, &y = questions[b].prompts[0].tokens;
      return x != y ? x < y : a < b;
    });
    label_ = task.label;
    task_start_ = Seconds();
    task_done_ = task_tokens_ = 0;
    for (const CoreQuestion& question : questions) task_tokens_ += TokensOf(question);
    for (size_t next = 0; next < order.size();) {
      std::vector<size_t> batch;
      for (int64_t tokens = 0; next < order.size() && tokens < kBatchTokens; ++next) {
        batch.push_back(order[next]);
        tokens += TokensOf(questions[order[next]]);
      }
      WT_RETURN_IF_ERROR(AskBatch(task, questions, open, batch));
    }
    return {};
  }

  static int64_t TokensOf(const CoreQuestion& question) {
    int64_t tokens = 0;
    for (const CorePrompt& p : question.prompts) tokens += static_cast<int64_t>(p.tokens.size());
    return tokens;
  }

  Status AskBatch(const CoreTask& task, const std::vector<CoreQuestion>& questions,
                  const std::vector<int64_t>& open, const std::vector<size_t>& batch) {
    std::vector<const CorePrompt*> prompts;
    int64_t longest = 0;
    for (size_t q : batch) {
      for (const CorePrompt& p : questions[q].prompts) {
        prompts.push_back(&p);
        longest = std::max(longest, static_cast<int64_t>(p.tokens.size()));
        prompt_tokens_ += static_cast<int64_t>(p.tokens.size());
      }
    }
    WT_RETURN_IF_ERROR(Fit(longest));
    const auto step = [this](int64_t) { return Tell(); };
    WT_ASSIGN_OR_RETURN(const auto scores, scorer_->Score(prompts, step));
    std::vector<std::pair<int64_t, CoreAnswer>> made;
    size_t at = 0;
    for (size_t q : batch) {
      const size_t n = questions[q].prompts.size();
      made.emplace_back(open[q], Choose(task.kind, questions[q], {scores.data() + at, n}));
      at += n;
      task_done_ += TokensOf(questions[q]);
    }
    WT_RETURN_IF_ERROR(answers_.Add(task.label, made));
    return Tell() ? Status() : Error(Code::kInterrupted, "stopped; answers so far are kept");
  }

  bool Tell() const {
    return !progress_ || progress_({label_, task_done_, task_tokens_, Seconds() - task_start_,
                                    task_index_, tasks_});
  }

  // A scorer for prompts of this length. Lengths are rounded up, so few are made.
  Status Fit(int64_t longest) {
    if (scorer_ && longest <= longest_) return {};
    longest_ = std::max(config_.context, longest_);
    while (longest_ < longest) longest_ *= 2;
    if (scorer_) tokens_run_ += scorer_->tokens_run();
    WT_ASSIGN_OR_RETURN(scorer_, SharedScorer::Create(config_, model_, weights_, longest_));
    return {};
  }

  const nn::ModelConfig& config_;
  const nn::ModelFunction& model_;
  nn::TensorStore* weights_;
  const text::Tokenizer& tokenizer_;
  const CoreOptions& options_;
  const std::function<bool(const CoreProgress&)>& progress_;
  const double start_ = Seconds();
  double task_start_ = 0;
  size_t task_index_ = 0, tasks_ = 0;
  std::string bundle_, label_;
  CoreAnswers answers_;
  std::unique_ptr<SharedScorer> scorer_;
  int64_t longest_ = 0, prompt_tokens_ = 0, tokens_run_ = 0;
  int64_t task_done_ = 0, task_tokens_ = 0;
};

double Centered(double accuracy, const CoreTask& task) {
  const double baseline = task.baseline / 100;
  return (accuracy - baseline) / (1 - baseline);
}

double Accuracy(const std::vector<CoreAnswer>& answers) {
  const auto right = std::count_if(answers.begin(), answers.end(),
                                   [](const CoreAnswer& answer) { return answer.right; });
  return static_cast<double>(right) / static_cast<double>(answers.size());
}

// Accuracies of answers drawn again with replacement.
std::vector<double> Resampled(const std::vector<CoreAnswer>& answers, uint64_t stream) {
  std::vector<double> accuracies(kResamples);
  ParallelFor(kResamples, [&](int64_t r) {
    Philox random(kBootstrapSeed, stream * kResamples + static_cast<uint64_t>(r));
    int64_t right = 0;
    for (size_t i = 0; i < answers.size(); ++i)
      right += answers[random.NextBelow(answers.size())].right;
    accuracies[static_cast<size_t>(r)] =
        static_cast<double>(right) / static_cast<double>(answers.size());
  });
  return accuracies;
}

std::pair<double, double> Interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 40], values[values.size() - 1 - values.size() / 40]};
}

void Aggregate(CoreResult* result) {
  std::vector<double> means(kResamples, 0.0);
  for (size_t t = 0; t < result->tasks.size(); ++t) {
    CoreTaskResult& row = result->tasks[t];
    if (row.answers.empty()) continue;
    ++result->scored;
    row.accuracy = Accuracy(row.answers);
    row.centered = Centered(row.accuracy, row.task);
    result->value += row.centered;
    const std::vector<double> resampled = Resampled(row.answers, t);
    for (size_t r = 0; r < means.size(); ++r) means[r] += Centered(resampled[r], row.task);
    std::tie(row.low, row.high) = Interval(resampled);
  }
  if (result->scored == 0) return;
  const auto n = static_cast<double>(result->scored);
  result->value /= n;
  for (double& mean : means) mean /= n;
  std::tie(result->low, result->high) = Interval(means);
}

}  // namespace

std::string CoreResult::name() const {
  return scored == static_cast<int64_t>(tasks.size()) ? "CORE" : fmt::format("CORE-{}", scored);
}

Result<CoreResult> EvaluateCore(const nn::ModelConfig& config, const nn::ModelFunction& model,
                                nn::TensorStore* weights, const text::Tokenizer& tokenizer,
                                const std::string& home, const CoreOptions& options,
                                const std::function<bool(const CoreProgress&)>& progress) {
  if (tokenizer.vocab_size() > config.vocab_size || tokenizer.bos() < 0) {
    return Error(Code::kMismatch,
                 "the tokenizer has {} ids and BOS {}; the model knows {} ids; use the tokenizer "
                 "that it was trained with",
                 tokenizer.vocab_size(), tokenizer.bos(), config.vocab_size);
  }
  Evaluation evaluation(config, model, weights, tokenizer, options, progress);
  WT_ASSIGN_OR_RETURN(CoreResult result, evaluation.Run(home));
  Aggregate(&result);
  return result;
}

std::string CoreCsv(const CoreResult& result) {
  std::string csv = fmt::format("{:<35}, {:<10}, {:<10}\n", "Task", "Accuracy", "Centered");
  for (const CoreTaskResult& row : result.tasks) {
    if (row.answers.empty()) continue;
    csv +=
        fmt::format("{:<35}, {:<10.6f}, {:<10.6f}\n", row.task.label, row.accuracy, row.centered);
  }
  return csv + fmt::format("{:<35}, {:<10}, {:<10.6f}\n", result.name(), "", result.value);
}

}  // namespace wt::eval
