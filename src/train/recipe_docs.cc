// Help made from the key table: docs/RECIPE.md and the terminal's list of keys.
#include <string>

#include "train/recipe_keys.h"

namespace wt::train {
namespace {

// `|` would end a cell of a Markdown table.
std::string Cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string RecipeKeysMarkdown() {
  const Recipe defaults;
  std::string text =
      "# Recipe keys\n\n"
      "A recipe is a TOML file with the tables below. A key left out has the default shown; a key\n"
      "that is not listed is an error. `--set table.key=value` sets any of them for one run.\n"
      "Durations are written `\"90s\"`, `\"30m\"`, `\"4h\"`, or as a number of seconds.\n\n"
      "This page is made from the table in `src/train/recipe_keys.cc`; a test holds the two "
      "together.\n";
  for (const std::string& table : RecipeTables()) {
    text +=
        fmt::format("\n## [{}]\n\n{}\n\n| key | type | default | meaning |\n|---|---|---|---|\n",
                    table, RecipeTableDoc(table));
    for (const RecipeKey& row : RecipeKeys()) {
      if (row.table != table) continue;
      text += fmt::format("| `{}` | {} | `{}` | {} |\n", row.key, Cell(row.type),
                          row.write(defaults), Cell(row.doc));
    }
  }
  text +=
      "\n## [kernels]\n\n"
      "Kernels of your own for the price: `linear = \"own.py:linear\"` under `[kernels]`, or\n"
      "`--set kernels.linear=own.py:linear`. The key is an op of the step, the value a file, here\n"
      "or in `kernels/`, and a function that takes the arguments of the library's kernel for that\n"
      "op (`data/kernels.toml`). It replaces that op under any toolchain.mode, and is first\n"
      "compared with the host op by values. [KERNELS.md](KERNELS.md) has more.\n";
  return text;
}

std::string RecipeKeysText() {
  const Recipe defaults;
  std::string text;
  for (const std::string& table : RecipeTables()) {
    text += fmt::format("{}[{}]  {}\n", text.empty() ? "" : "\n", table, RecipeTableDoc(table));
    for (const RecipeKey& row : RecipeKeys()) {
      if (row.table != table) continue;
      text += fmt::format("  {:<36} {} ({})\n", row.key + " = " + row.write(defaults), row.doc,
                          row.type);
    }
  }
  return text;
}

}  // namespace wt::train
