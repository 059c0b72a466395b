#include "eval/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wt::eval {
namespace {

constexpr int64_t kShortestProgram = 64;

std::vector<int32_t> MostProbable(std::span<const float> logits, int64_t count) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto better = [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(ids.begin(), ids.begin() + count, ids.end(), better);
  ids.resize(static_cast<size_t>(count));
  return ids;
}

}  // namespace

int32_t PickToken(std::span<const float> logits, const SampleOptions& options, Philox* random) {
  const auto vocab = static_cast<int64_t>(logits.size());
  const bool greedy = options.temperature <= 0;
  const int64_t count = greedy ? 1 : options.top_k > 0 ? std::min(options.top_k, vocab) : vocab;
  const std::vector<int32_t> ids = MostProbable(logits, count);
  if (greedy) return ids[0];
  std::vector<double> weights;
  const double top = static_cast<double>(logits[static_cast<size_t>(ids[0])]);
  for (int32_t id : ids) {
    weights.push_back(std::exp((static_cast<double>(logits[static_cast<size_t>(id)]) - top) /
                               options.temperature));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double draw = static_cast<double>(random->NextUniform()) * total;
  for (size_t i = 0; i < ids.size(); ++i) {
    draw -= weights[i];
    if (draw < 0) return ids[i];
  }
  return ids.back();
}

Status Sampler::Fit(int64_t tokens) {
  if (executor_ && tokens <= time_) return {};
  time_ = std::min(kShortestProgram, config_.context);
  while (time_ < tokens) time_ = std::min(2 * time_, config_.context);
  WT_ASSIGN_OR_RETURN(nn::LogitsProgram made, nn::MakeLogitsProgram(config_, model_, 1, time_));
  logits_ = made.logits;
  WT_ASSIGN_OR_RETURN(executor_, nn::Executor::Create(std::move(made.program), weights_));
  executor_->Run(nn::Phase::kPrepare);
  return {};
}

Status Sampler::Next(std::vector<int32_t>* tokens) {
  WT_CHECK(!tokens->empty(), "sampling starts from at least one token");
  const auto seen = std::min<int64_t>(static_cast<int64_t>(tokens->size()), config_.context);
  WT_RETURN_IF_ERROR(Fit(seen));
  int32_t* input = executor_->Data<int32_t>(nn::kTokensInput);
  std::fill(input, input + time_, 0);  // what follows the last token is not seen by it
  std::copy(tokens->end() - seen, tokens->end(), input);
  executor_->Run(nn::Phase::kForward);
  const float* logits = executor_->Data<float>(logits_) + (seen - 1) * config_.vocab_size;
  tokens->push_back(
      PickToken({logits, static_cast<size_t>(config_.vocab_size)}, options_, &random_));
  return {};
}

}  // namespace wt::eval
