#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace wt::train {
namespace {

double Lerp(double from, double to, double share) { return from + (to - from) * share; }

}  // namespace

Schedule::Schedule(const Recipe& recipe)
    : config_(recipe.schedule),
      muon_momentum_(recipe.optimizer.muon_momentum),
      steps_(recipe.train.steps),
      tokens_per_step_(recipe.train.tokens_per_step),
      predict_tokens_(recipe.model.predict_tokens) {}

double Schedule::Progress(int64_t steps_done, double charged, double horizon) const {
  const double by_steps =
      steps_ > 0 ? static_cast<double>(steps_done) / static_cast<double>(steps_) : 0;
  const double by_time = horizon > 0 ? charged / horizon : 1;
  const bool time = config_.by == ScheduleBasis::kTime;
  return std::clamp(time ? std::max(by_time, by_steps) : by_steps, 0.0, 1.0);
}

ScheduleValues Schedule::At(double progress, int64_t steps_done) const {
  return {LrScale(progress, steps_done), Momentum(progress, steps_done), WeightDecayScale(progress),
          TokensPerStep(progress), MtpWeights(progress)};
}

// How far into the warm-down: 0 before it, 1 at the end of the run.
double Schedule::WarmdownShare(double progress) const {
  if (config_.warmdown == 0) return 0;
  return std::clamp((progress - (1 - config_.warmdown)) / config_.warmdown, 0.0, 1.0);
}

double Schedule::LrScale(double progress, int64_t steps_done) const {
  double warm = 1;
  if (config_.warmup > 0) warm = std::min(warm, progress / config_.warmup);
  if (config_.warmup_steps > 0) {  // the first step has 1/n already: 0 would waste it
    warm = std::min(
        warm, static_cast<double>(steps_done + 1) / static_cast<double>(config_.warmup_steps));
  }
  return warm * Lerp(1, config_.final_lr, WarmdownShare(progress));
}

double Schedule::Momentum(double progress, int64_t steps_done) const {
  const auto warmup = static_cast<double>(config_.momentum_warmup);
  const double rise = warmup > 0 ? std::min(1.0, static_cast<double>(steps_done) / warmup) : 1;
  const double top = Lerp(config_.momentum_start, muon_momentum_, rise);
  return Lerp(top, config_.momentum_end, WarmdownShare(progress));
}

double Schedule::WeightDecayScale(double progress) const {
  switch (config_.weight_decay) {
    case DecaySchedule::kConstant:
      return 1;
    case DecaySchedule::kCosine:
      return 0.5 * (1 + std::cos(std::numbers::pi * progress));
    case DecaySchedule::kLinear:
      return 1 - progress;
  }
  return 1;
}

int64_t Schedule::TokensPerStep(double progress) const {
  for (const auto& [until, tokens] : config_.batch_phases) {
    if (progress < until) return std::llround(tokens);
  }
  return tokens_per_step_;
}

std::vector<double> Schedule::MtpWeights(double progress) const {
  std::vector<double> weights = config_.mtp_weights;
  for (int64_t n = std::ssize(weights); n < predict_tokens_; ++n) {
    weights.push_back(std::ldexp(1.0, static_cast<int>(-n)));
  }
  if (config_.mtp_fade_end > 0) {
    const double left = std::max(0.0, 1 - progress / config_.mtp_fade_end);
    for (size_t i = 1; i < weights.size(); ++i) weights[i] *= left;
  }
  return weights;
}

}  // namespace wt::train
