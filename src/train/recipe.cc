// Reading and writing recipes through the key table.
#include "train/recipe.h"

#include <algorithm>

#include "base/files.h"
#include "base/text_util.h"
#include "train/recipe_keys.h"

namespace wt::train {
namespace {

constexpr char kKernelsTable[] = "kernels";  // its keys are ops, not keys of a recipe

std::string DidYouMean(const std::string& nearest) {
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

// A table nobody knows, or a key that stands before the first [table].
Status UnknownEntry(const std::string& name, bool is_table) {
  if (is_table) {
    return Error(Code::kInvalidArgument, "[{}] is not a table of a recipe; expected {}{}", name,
                 Join(RecipeTables(), ", "), DidYouMean(NearestName(name, RecipeTables())));
  }
  std::string nearest;
  for (const RecipeKey& row : RecipeKeys()) {
    if (row.key == name && nearest.empty()) nearest = row.name();
  }
  return Error(Code::kInvalidArgument, "{} stands outside a table; expected it under one of {}{}",
               name, Join(RecipeTables(), ", "), DidYouMean(nearest));
}

Status CheckTables(const toml::table& root) {
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    const auto& tables = RecipeTables();
    if (node.is_table() && name == kKernelsTable) continue;
    if (node.is_table() && std::find(tables.begin(), tables.end(), name) != tables.end()) continue;
    const Status status = UnknownEntry(name, node.is_table());
    const uint32_t line = key.source().begin.line;
    return line ? status.WithContext(fmt::format("line {}", line)) : status;
  }
  return {};
}

// Which ops there are is known to whoever prices them.
Status ApplyKernels(const toml::table* kernels, Recipe* recipe) {
  if (!kernels) return {};
  for (const auto& [op, node] : *kernels) {
    const auto kernel = node.value<std::string>();
    if (!kernel) {
      return Error(Code::kInvalidArgument, "kernels.{}: expected text such as \"own.py:kernel\"",
                   std::string(op.str()));
    }
    recipe->kernels[std::string(op.str())] = *kernel;
  }
  return {};
}

// Sets the fields of `recipe` that `root` names and leaves the others.
Status Apply(const toml::table& root, Recipe* recipe) {
  WT_RETURN_IF_ERROR(CheckTables(root));
  for (const std::string& table : RecipeTables()) {
    TableReader reader(root[table].as_table(), table);
    for (const RecipeKey& row : RecipeKeys()) {
      if (row.table == table) row.read(reader, recipe);
    }
    WT_RETURN_IF_ERROR(reader.Finish());
  }
  return ApplyKernels(root[kKernelsTable].as_table(), recipe);
}

bool IsTextKey(const std::string& table, const std::string& key) {
  const auto& keys = RecipeKeys();
  return std::any_of(keys.begin(), keys.end(), [&](const RecipeKey& row) {
    return row.table == table && row.key == key && row.type == "text";
  });
}

// The table that `table.key=value` stands for. Text that is no TOML value, or that is one by
// accident where text is wanted (data.corpus=2024), is a string.
toml::table OverrideTable(const std::string& table, const std::string& key,
                          const std::string& value) {
  const auto parsed = ParseToml("value = " + value, "");
  toml::table inner;
  const bool good = parsed.ok() && parsed->size() == 1;
  if (good && (!IsTextKey(table, key) || (*parsed)["value"].is_string())) {
    if (const toml::node* node = parsed->get("value")) inner.insert(key, *node);
  } else {
    inner.insert(key, value);
  }
  return toml::table{{table, std::move(inner)}};
}

Status ApplyOverride(const std::string& text, Recipe* recipe) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || name.empty()) {
    return Error(Code::kInvalidArgument, "expected table.key=value, for example model.depth=4");
  }
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return UnknownEntry(name, false);
  const std::string table = name.substr(0, dot), key = name.substr(dot + 1);
  return Apply(OverrideTable(table, key, text.substr(equals + 1)), recipe);
}

}  // namespace

Result<Recipe> ParseRecipe(std::string_view text, const std::string& name,
                           const std::vector<std::string>& overrides) {
  WT_ASSIGN_OR_RETURN(const toml::table root, ParseToml(text, name));
  Recipe recipe;
  WT_RETURN_IF_ERROR(Apply(root, &recipe).WithContext(name));
  for (const std::string& override : overrides) {
    WT_RETURN_IF_ERROR(ApplyOverride(override, &recipe).WithContext("--set " + override));
  }
  WT_RETURN_IF_ERROR(ValidateRecipe(recipe).WithContext(name));
  return recipe;
}

Result<Recipe> LoadRecipe(const std::string& path, const std::vector<std::string>& overrides) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseRecipe(text, path, overrides);
}

std::string RecipeToToml(const Recipe& recipe) {
  std::string text;
  for (const std::string& table : RecipeTables()) {
    text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    for (const RecipeKey& row : RecipeKeys()) {
      if (row.table == table) text += fmt::format("{} = {}\n", row.key, row.write(recipe));
    }
  }
  if (!recipe.kernels.empty()) text += fmt::format("\n[{}]\n", kKernelsTable);
  for (const auto& [op, kernel] : recipe.kernels) text += fmt::format("{} = \"{}\"\n", op, kernel);
  return text;
}

Status SaveRecipe(const Recipe& recipe, const std::string& path) {
  return WriteFileAtomic(path, RecipeToToml(recipe));
}

std::string RecipeHash(const Recipe& recipe) { return Sha256(RecipeToToml(recipe)); }

}  // namespace wt::train
