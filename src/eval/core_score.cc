// The shared way in three steps: prompts are sorted, so that each has most in common with the one
// before it and takes over its slots as far as they agree; the rest gets new slots in order; runs
// then cut the line of slots into pieces that fit the engine, and read the logits that count.
#include "eval/core_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.h"
#include "tensor/softmax.h"

namespace wt::eval {
namespace {

constexpr int64_t kRows = 2048;             // tokens of one run
constexpr int64_t kBatchSlots = 16384;      // tokens that share one filling of the pools
constexpr int64_t kLogitBytes = 128 << 20;  // of one run

// A token whose probability counts, and the slot whose logits give it.
struct Target {
  int32_t slot;
  int32_t prompt, at;  // token `at` of the prompt's scored span
  int32_t token;
};

// Loss and rank of one target.
struct Loss {
  float nll = 0;
  bool first = false;
};

Loss LossOf(std::span<const float> logits, float log_sum_exp, int32_t token) {
  const float* top = std::max_element(logits.data(), logits.data() + logits.size());
  return {log_sum_exp - logits[static_cast<size_t>(token)], top - logits.data() == token};
}

PromptScore Sum(std::span<const Loss> losses) {
  PromptScore score;
  double sum = 0;
  for (const Loss& loss : losses) {
    sum += static_cast<double>(loss.nll);
    score.all_right &= loss.first;
  }
  score.mean_nll = losses.empty() ? std::numeric_limits<double>::quiet_NaN()
                                  : sum / static_cast<double>(losses.size());
  return score;
}

Status CheckFinite(std::span<const Loss> losses) {
  const auto finite = [](const Loss& loss) { return std::isfinite(loss.nll); };
  if (std::all_of(losses.begin(), losses.end(), finite)) return {};
  return Error(Code::kNumeric, "the model's logits are not finite");
}

// Tokens that must run: the last scored token is only predicted.
int64_t RunLength(const CorePrompt& prompt) {
  return prompt.begin < prompt.end ? prompt.end - 1 : 0;
}

std::span<const int32_t> RunTokens(const CorePrompt& prompt) {
  return {prompt.tokens.data(), static_cast<size_t>(RunLength(prompt))};
}

size_t CommonLength(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(ends.first - a.begin());
}

// Prompts that fill the pools once.
class Batch {
 public:
  explicit Batch(std::span<const CorePrompt* const> all) : all_(all) {}

  // Takes over the slots of the prompt before as far as tokens agree. False, with nothing changed,
  // when the new ones exceed `slots`.
  bool Add(size_t index, int64_t slots) {
    const std::span<const int32_t> tokens = RunTokens(*all_[index]);
    const size_t shared =
        lines_.empty() ? 0 : CommonLength(RunTokens(*all_[lines_.back().prompt]), tokens);
    const auto added = static_cast<int64_t>(tokens.size() - shared);
    if (next_ + added > slots && next_ > 0) return false;
    Line line{index, shared, {}};
    if (shared > 0) {
      const std::vector<int32_t>& before = lines_.back().path;
      line.path.assign(before.begin(), before.begin() + static_cast<int64_t>(shared));
    }
    while (line.path.size() < tokens.size()) line.path.push_back(static_cast<int32_t>(next_++));
    AddTargets(index, line.path);
    lines_.push_back(std::move(line));
    return true;
  }

  // Runs all of it; losses[i] are those of prompt i.
  Status Run(InferenceEngine* engine, std::vector<std::vector<Loss>>* losses,
             const std::function<bool(int64_t)>& progress) {
    std::stable_sort(targets_.begin(), targets_.end(),
                     [](const Target& a, const Target& b) { return a.slot < b.slot; });
    size_t line = 0, done = 0;  // tokens of the line that are done
    while (line < lines_.size()) {
      const int64_t rows = RunOnce(engine, &line, &done, losses);
      if (progress && !progress(rows)) {
        return Error(Code::kInterrupted, "stopped; answers so far are kept");
      }
    }
    return {};
  }

  bool empty() const { return lines_.empty(); }
  int64_t slots() const { return next_; }

 private:
  struct Line {
    size_t prompt;
    size_t shared;  // first tokens that an earlier line runs
    std::vector<int32_t> path;
  };

  void AddTargets(size_t index, const std::vector<int32_t>& path) {
    const CorePrompt& prompt = *all_[index];
    for (int64_t t = prompt.begin; t < prompt.end; ++t) {
      targets_.push_back({path[static_cast<size_t>(t - 1)], static_cast<int32_t>(index),
                          static_cast<int32_t>(t - prompt.begin),
                          prompt.tokens[static_cast<size_t>(t)]});
    }
  }

  // One run from (line, done) on, as much as fits; gives the tokens run.
  int64_t RunOnce(InferenceEngine* engine, size_t* line, size_t* done,
                  std::vector<std::vector<Loss>>* losses) {
    const nn::CachedSizes& sizes = engine->sizes();
    std::vector<Piece> pieces;
    std::vector<int32_t> wanted;
    const size_t first_target = next_target_;
    const int32_t first_slot = next_slot_;
    int64_t rows = 0, named = 0;
    bool full = false;
    while (*line < lines_.size() && !full) {
      const Line& now = lines_[*line];
      const size_t begin = std::max(*done, now.shared);
      size_t end = begin;
      while (end < now.path.size() && rows < sizes.rows &&
             static_cast<int64_t>(wanted.size()) < sizes.wanted &&
             named + static_cast<int64_t>(end) < sizes.paths) {
        TakeTargets(first_slot, &wanted);
        ++end, ++rows;
      }
      full = end < now.path.size();
      if (end > begin) {
        pieces.push_back({RunTokens(*all_[now.prompt]).subspan(begin, end - begin),
                          std::span<const int32_t>(now.path).first(end)});
        named += static_cast<int64_t>(end);
      }
      *done = full ? end : 0;
      *line += !full;
    }
    if (pieces.empty()) return 0;
    TakeLosses(engine->Run(pieces, wanted), wanted, first_target, losses);
    return rows;
  }

  // Passes the next slot; its row is wanted when targets hang on it.
  void TakeTargets(int32_t first_slot, std::vector<int32_t>* wanted) {
    if (next_target_ < targets_.size() && targets_[next_target_].slot == next_slot_) {
      wanted->push_back(next_slot_ - first_slot);
      while (next_target_ < targets_.size() && targets_[next_target_].slot == next_slot_) {
        ++next_target_;
      }
    }
    ++next_slot_;
  }

  void TakeLosses(std::span<float> logits, const std::vector<int32_t>& wanted, size_t first_target,
                  std::vector<std::vector<Loss>>* losses) const {
    const auto vocab = wanted.empty() ? 0 : logits.size() / wanted.size();
    std::vector<size_t> starts;  // of each wanted row's targets
    for (size_t t = first_target; t < next_target_; ++t) {
      if (t == first_target || targets_[t].slot != targets_[t - 1].slot) starts.push_back(t);
    }
    starts.push_back(next_target_);
    ParallelFor(static_cast<int64_t>(wanted.size()), [&](int64_t i) {
      const auto row = static_cast<size_t>(i);
      const std::span<float> z = logits.subspan(row * vocab, vocab);
      const float lse = tensor::SoftcapLogSumExp(static_cast<int64_t>(vocab), 0, z.data());
      for (size_t t = starts[row]; t < starts[row + 1]; ++t) {
        const Target& target = targets_[t];
        (*losses)[static_cast<size_t>(target.prompt)][static_cast<size_t>(target.at)] =
            LossOf(z, lse, target.token);
      }
    });
  }

  std::span<const CorePrompt* const> all_;
  std::vector<Line> lines_;
  std::vector<Target> targets_;
  int64_t next_ = 0;        // slot of the next new token
  size_t next_target_ = 0;  // while running
  int32_t next_slot_ = 0;
};

std::vector<size_t> SortedByTokens(std::span<const CorePrompt* const> prompts) {
  std::vector<size_t> order(prompts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto x = RunTokens(*prompts[a]), y = RunTokens(*prompts[b]);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  return order;
}

}  // namespace

CoreAnswer Choose(CoreKind kind, const CoreQuestion& question,
                  std::span<const PromptScore> scores) {
  if (kind == CoreKind::kLanguageModeling) {
    return {scores[0].all_right ? 1 : 0, scores[0].all_right};
  }
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i) {
    if (scores[i].mean_nll < scores[best].mean_nll) best = i;
  }
  const auto chosen = static_cast<int64_t>(best);
  return {chosen, chosen == question.gold};
}

Result<std::unique_ptr<SharedScorer>> SharedScorer::Create(const nn::ModelConfig& config,
                                                           const nn::ModelFunction& model,
                                                           nn::TensorStore* weights,
                                                           int64_t longest) {
  nn::CachedSizes sizes;
  sizes.rows = sizes.segments = kRows;
  sizes.positions = std::max<int64_t>(longest, config.context);
  sizes.slots = std::max(kBatchSlots, sizes.positions);
  sizes.paths = std::max<int64_t>(1 << 20, sizes.positions);
  sizes.wanted = std::clamp<int64_t>(kLogitBytes / 4 / config.vocab_size, 16, kRows);
  WT_ASSIGN_OR_RETURN(auto engine, InferenceEngine::Create(config, model, weights, sizes));
  return std::unique_ptr<SharedScorer>(new SharedScorer(std::move(engine)));
}

Result<std::vector<PromptScore>> SharedScorer::Score(std::span<const CorePrompt* const> prompts,
                                                     const std::function<bool(int64_t)>& progress) {
  std::vector<std::vector<Loss>> losses(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    losses[i].resize(
        static_cast<size_t>(std::max<int64_t>(0, prompts[i]->end - prompts[i]->begin)));
  }
  const std::vector<size_t> order = SortedByTokens(prompts);
  for (size_t next = 0; next < order.size();) {
    Batch batch(prompts);
    while (next < order.size() && batch.Add(order[next], engine_->sizes().slots)) ++next;
    WT_RETURN_IF_ERROR(batch.Run(engine_.get(), &losses, progress));
    tokens_run_ += batch.slots();
  }
  std::vector<PromptScore> scores;
  for (const auto& of_prompt : losses) {
    WT_RETURN_IF_ERROR(CheckFinite(of_prompt));
    scores.push_back(Sum(of_prompt));
  }
  return scores;
}

Result<std::unique_ptr<PlainScorer>> PlainScorer::Create(const nn::ModelConfig& config,
                                                         const nn::ModelFunction& model,
                                                         nn::TensorStore* weights,
                                                         int64_t longest) {
  const int64_t time = std::max<int64_t>(longest, config.context);
  WT_ASSIGN_OR_RETURN(nn::LogitsProgram made, nn::MakeLogitsProgram(config, model, 1, time));
  std::unique_ptr<PlainScorer> scorer(new PlainScorer());
  scorer->tokens_ = made.program.FindValue(nn::kTokensInput);
  scorer->logits_ = made.logits;
  scorer->vocab_ = config.vocab_size;
  WT_ASSIGN_OR_RETURN(scorer->executor_, nn::Executor::Create(std::move(made.program), weights));
  scorer->executor_->Run(nn::Phase::kPrepare);
  return scorer;
}

Result<std::vector<PromptScore>> PlainScorer::Score(std::span<const CorePrompt* const> prompts) {
  std::vector<PromptScore> scores;
  for (const CorePrompt* prompt : prompts) {
    const auto size = static_cast<int64_t>(prompt->tokens.size());
    WT_RETURN_IF_ERROR(executor_->Reshape({{tokens_, {1, size}}}));
    std::copy(prompt->tokens.begin(), prompt->tokens.end(), executor_->Data<int32_t>(tokens_));
    executor_->Run(nn::Phase::kForward);
    float* logits = executor_->Data<float>(logits_);
    std::vector<Loss> losses;
    for (int64_t t = prompt->begin; t < prompt->end; ++t) {
      float* z = logits + (t - 1) * vocab_;
      const float lse = tensor::SoftcapLogSumExp(vocab_, 0, z);
      losses.push_back(
          LossOf({z, static_cast<size_t>(vocab_)}, lse, prompt->tokens[static_cast<size_t>(t)]));
    }
    WT_RETURN_IF_ERROR(CheckFinite(losses));
    scores.push_back(Sum(losses));
  }
  return scores;
}

}  // namespace wt::eval
