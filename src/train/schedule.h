// Schedules: learning rate, momentum, weight decay, batch size and multi-token weights as functions
// of how far the run is. Progress is a share of the charged time or of the steps, so that the same
// recipe cools down at its end on a fast machine and on a slow one.
#pragma once

#include <cstdint>
#include <vector>

#include "train/recipe.h"

namespace wt::train {

struct ScheduleValues {
  double lr_scale = 1;  // of every learning rate
  double muon_momentum = 0.95;
  double weight_decay_scale = 1;
  int64_t tokens_per_step = 0;
  std::vector<double> mtp_weights;  // [model.predict_tokens]
};

class Schedule {
 public:
  // Requires a valid recipe.
  explicit Schedule(const Recipe& recipe);

  // 0 to 1 after `steps_done` steps and `charged` seconds. By time it is charged / horizon, where
  // `horizon` is when training will end (BudgetKeeper::Horizon), or steps_done / train.steps when
  // that limit is nearer; by steps it is the latter alone.
  double Progress(int64_t steps_done, double charged, double horizon) const;

  // Values of the step that starts at `progress` as the run's step number `steps_done` (from 0).
  ScheduleValues At(double progress, int64_t steps_done) const;

 private:
  double LrScale(double progress, int64_t steps_done) const;
  double Momentum(double progress, int64_t steps_done) const;
  double WeightDecayScale(double progress) const;
  int64_t TokensPerStep(double progress) const;
  std::vector<double> MtpWeights(double progress) const;
  double WarmdownShare(double progress) const;

  ScheduleConfig config_;
  double muon_momentum_;
  int64_t steps_, tokens_per_step_, predict_tokens_;
};

}  // namespace wt::train
