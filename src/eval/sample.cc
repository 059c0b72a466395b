#include "eval/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wt::eval {
namespace {

constexpr int64_t kPrefillRows = 1024;  // tokens of one run

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

// The fewest of the sorted weights whose sum reaches `share` of all.
void KeepMostProbable(double share, std::vector<double>* weights) {
  const double goal = share * std::accumulate(weights->begin(), weights->end(), 0.0);
  double sum = 0;
  for (size_t i = 0; i < weights->size(); ++i) {
    sum += (*weights)[i];
    if (sum >= goal) return weights->resize(i + 1);
  }
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
  if (options.top_p < 1) KeepMostProbable(options.top_p, &weights);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double draw = static_cast<double>(random->NextUniform()) * total;
  for (size_t i = 0; i < weights.size(); ++i) {
    draw -= weights[i];
    if (draw < 0) return ids[i];
  }
  return ids[weights.size() - 1];
}

Status Sampler::Prepare() {
  if (engine_) return {};
  const int64_t rows = std::min(kPrefillRows, config_.context);
  nn::CachedSizes sizes;
  sizes.rows = rows;
  sizes.segments = sizes.wanted = 1;
  sizes.paths = sizes.slots = sizes.positions = config_.context;
  WT_ASSIGN_OR_RETURN(engine_, InferenceEngine::Create(config_, model_, weights_, sizes));
  slots_.resize(static_cast<size_t>(config_.context));
  std::iota(slots_.begin(), slots_.end(), 0);
  return {};
}

std::span<float> Sampler::Feed(const std::vector<int32_t>& tokens, size_t begin) {
  std::span<float> logits;
  while (begin < tokens.size()) {
    const size_t n = std::min(static_cast<size_t>(engine_->sizes().rows), tokens.size() - begin);
    const std::span<const int32_t> part = std::span(tokens).subspan(begin, n);
    const Piece piece = {part, std::span<const int32_t>(slots_).first(begin + n - first_)};
    const auto last = static_cast<int32_t>(n - 1);
    logits = engine_->Run({&piece, 1}, {&last, 1});
    seen_.insert(seen_.end(), part.begin(), part.end());
    begin += n;
  }
  return logits;
}

Status Sampler::Next(std::vector<int32_t>* tokens) {
  WT_CHECK(!tokens->empty(), "sampling starts from at least one token");
  WT_RETURN_IF_ERROR(Prepare());
  const auto context = static_cast<size_t>(config_.context);
  const bool goes_on =
      tokens->size() > first_ + seen_.size() &&
      std::equal(seen_.begin(), seen_.end(), tokens->begin() + static_cast<int64_t>(first_));
  if (!goes_on || tokens->size() - first_ > context) {
    const bool full = tokens->size() > context;
    first_ = full ? tokens->size() - std::max<size_t>(1, context / 2) : 0;
    seen_.clear();
  }
  const std::span<float> logits = Feed(*tokens, first_ + seen_.size());
  tokens->push_back(PickToken(logits, options_, &random_));
  return {};
}

}  // namespace wt::eval
