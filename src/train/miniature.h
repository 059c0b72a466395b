// Miniature: a recipe made smaller for a rehearsal on a small machine. Width, depth and tokens of a
// step shrink together; the number of steps, the schedule and what each step is charged stay those
// of the whole recipe.
#pragma once

#include "train/recipe.h"

namespace wt::train {

struct Miniature {
  Recipe recipe;
  int64_t token_scale = 1;  // the whole recipe's tokens of a step, by the miniature's
};

// `scale` of the heads and of the depth, and about its square of the tokens. kInvalidArgument
// unless 0 < scale <= 1.
Result<Miniature> MakeMiniature(const Recipe& recipe, double scale);

}  // namespace wt::train
