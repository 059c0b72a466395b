#include "train/recipe_changes.h"

#include "train/recipe_keys.h"

namespace wt::train {

std::vector<KeyChange> ChangedKeys(const Recipe& before, const Recipe& after) {
  std::vector<KeyChange> changes;
  for (const RecipeKey& key : RecipeKeys()) {
    KeyChange change = {key.name(), key.write(before), key.write(after)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace wt::train
