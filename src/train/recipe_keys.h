// The one table of recipe keys: reading, writing, --set, help and docs/RECIPE.md all walk it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/toml_file.h"
#include "train/recipe.h"

namespace wt::train {

struct RecipeKey {
  std::string table, key;  // "model", "depth"
  std::string type;        // "whole number", "muon | adamw", …
  std::string doc;         // one line
  // Sets the field when `reader`, which stands on [table], has the key.
  std::function<void(TableReader& reader, Recipe* recipe)> read;
  // The field's value in TOML.
  std::function<std::string(const Recipe& recipe)> write;

  std::string name() const { return table + "." + key; }
};

// In the order of the tables and, within one, of the documentation.
const std::vector<RecipeKey>& RecipeKeys();
// "model", "init", …, in order.
const std::vector<std::string>& RecipeTables();
// What a table is about, in one line.
std::string RecipeTableDoc(const std::string& table);

}  // namespace wt::train
