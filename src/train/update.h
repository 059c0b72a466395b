// From a recipe's [optimizer] to the groups of the step program, and from a schedule's values to the numbers that
// an update reads.
#pragma once

#include <vector>

#include "nn/executor.h"
#include "nn/optimizer.h"
#include "train/recipe.h"
#include "train/schedule.h"

namespace wt::train {

// Matrices (Muon or AdamW), embedding, value_embedding, head and scalar: a group each.
std::vector<nn::OptimizerGroup> MakeGroups(const OptimizerConfig& config, const nn::StepProgram& program);

// Fills every `hyper.` input for update number `step` (from 1) over `micro_batches`.
void SetHyperInputs(const Recipe& recipe, const ScheduleValues& values, int64_t step, int64_t micro_batches,
                    nn::Executor* executor);

}  // namespace wt::train
