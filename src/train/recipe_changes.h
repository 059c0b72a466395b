// Which keys two recipes differ in.
#pragma once

#include <string>
#include <vector>

#include "train/recipe.h"

namespace wt::train {

struct KeyChange {
  std::string key, before, after;  // values as in TOML
};

// In the order of the documentation.
std::vector<KeyChange> ChangedKeys(const Recipe& before, const Recipe& after);

}  // namespace wt::train
