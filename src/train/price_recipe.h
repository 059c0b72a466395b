// A recipe's step on the chip: the same StepProgram that the host trains, for one rank's rows,
// given to the price room.
#pragma once

#include <functional>
#include <string>

#include "nn/gpt.h"
#include "price/step_price.h"
#include "train/recipe.h"

namespace wt::train {

// The launch shape and organisation of `recipe`. Fails when tokens_per_step is no multiple of what
// all ranks take at once, naming both.
Result<price::StepSetup> PriceSetupOf(const Recipe& recipe);

// The program that one rank runs in a step.
Result<nn::StepProgram> RankProgram(const Recipe& recipe, const nn::ModelFunction& model);

// Fails with kCapacity when the step does not fit the rank's HBM: what is over, by how much, and
// changes that would fit it.
// `progress`: of kernels that have to be recorded first.
Result<price::StepPrice> PriceRecipe(
    const Recipe& recipe, const nn::ModelFunction& model,
    const std::function<void(size_t, size_t, const std::string&)>& progress = nullptr);

}  // namespace wt::train
