#include "train/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/random.h"
#include "train/recipe_keys.h"

namespace wt::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string MessageOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto recipe = ParseRecipe(text, "r.toml", overrides);
  return recipe.ok() ? "ok" : recipe.status().message();
}

TEST(Recipe, EmptyTextIsTheDefaults) {
  const auto recipe = ParseRecipe("", "r.toml");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(RecipeToToml(*recipe), RecipeToToml(Recipe{}));
  EXPECT_EQ(recipe->optimizer.muon_lr, 0.02);
  EXPECT_EQ(recipe->optimizer.embedding.betas[1], 0.995);
}

TEST(Recipe, ReadsEveryKindOfKey) {
  const auto recipe = ParseRecipe(
      "[model]\ndepth = 3\nqk_norm = false\nactivation = \"swiglu\"\n"
      "value_embedding_layers = [0, -1]\n[optimizer]\nhead_betas = [0.5, 0.75]\n"
      "[schedule]\nbatch_phases = [[0.1, 4096], [0.25, 8192]]\n"
      "[data]\ncontext = 256\n[train]\nbudget = \"30m\"\nrows_per_core = 4\nsave_every = 0\n",
      "r.toml");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->model.depth, 3);
  EXPECT_FALSE(recipe->model.qk_norm);
  EXPECT_EQ(recipe->model.activation, nn::Activation::kSwiglu);
  EXPECT_THAT(recipe->model.value_embedding_layers, testing::ElementsAre(0, -1));
  EXPECT_EQ(recipe->optimizer.head.betas[0], 0.5);
  EXPECT_EQ(recipe->schedule.batch_phases[1][1], 8192);
  EXPECT_EQ(recipe->model.context, 256);
  EXPECT_EQ(recipe->train.budget, 1800);
  EXPECT_EQ(recipe->train.save_every, 0);
}

TEST(Recipe, OverridesAreTypedByTheKey) {
  const auto recipe = ParseRecipe(
      "[model]\ndepth = 3\n", "r.toml",
      {"model.depth=4", "model.depth=5", "train.budget=90s", "data.corpus=2024", "data.val=true",
       "model.activation=gelu", "optimizer.muon_lr=1e-3", "train.eval_every=never",
       "model.window_pattern=SSL", "clock.kind=\"host\"", "schedule.batch_phases=[[0.5, 8192]]"});
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->model.depth, 5);
  EXPECT_EQ(recipe->train.budget, 90);
  EXPECT_EQ(recipe->data.corpus, "2024");
  EXPECT_EQ(recipe->data.val, "true");
  EXPECT_EQ(recipe->model.activation, nn::Activation::kGelu);
  EXPECT_EQ(recipe->optimizer.muon_lr, 1e-3);
  EXPECT_EQ(recipe->model.window_pattern, "SSL");
  EXPECT_EQ(recipe->schedule.batch_phases.size(), 1u);
}

TEST(Recipe, MisspeltNamesGetTheNearestOne) {
  EXPECT_THAT(MessageOf("[modle]\ndepth = 3\n"),
              AllOf(HasSubstr("r.toml: line 1"), HasSubstr("did you mean model?")));
  EXPECT_THAT(MessageOf("\n[model]\ndepht = 3\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("did you mean model.depth?")));
  EXPECT_THAT(MessageOf("depth = 3\n"), HasSubstr("did you mean model.depth?"));
  EXPECT_THAT(MessageOf("", {"modle.depth=3"}), HasSubstr("did you mean model?"));
  EXPECT_THAT(MessageOf("", {"model.depht=3"}),
              AllOf(HasSubstr("--set model.depht=3: model.depht"), HasSubstr("model.depth?")));
  EXPECT_THAT(MessageOf("", {"depth=3"}), HasSubstr("did you mean model.depth?"));
  EXPECT_THAT(MessageOf("", {"model.depth"}), HasSubstr("table.key=value"));
  EXPECT_THAT(MessageOf("[clock]\nkind = \"hots\"\n"), HasSubstr("did you mean host?"));
  EXPECT_THAT(MessageOf("[model]\nactivation = \"swigul\"\n"), HasSubstr("did you mean swiglu?"));
}

TEST(Recipe, WrongTypesSayWhatWasGivenAndExpected) {
  EXPECT_THAT(MessageOf("[model]\ndepth = 2.5\n"),
              AllOf(HasSubstr("model.depth is 2.5"), HasSubstr("expected a whole number")));
  EXPECT_THAT(MessageOf("[model]\ndepth = true\n"), HasSubstr("expected a whole number"));
  EXPECT_THAT(MessageOf("[model]\nqk_norm = 1\n"), HasSubstr("expected true or false"));
  EXPECT_THAT(MessageOf("[train]\nbudget = \"soon\"\n"), HasSubstr("\"60s\""));
  EXPECT_THAT(MessageOf("[optimizer]\nhead_betas = [0.9]\n"), HasSubstr("two numbers"));
  EXPECT_THAT(MessageOf("[model]\ndepth = \n"), HasSubstr("r.toml:2"));
}

TEST(Recipe, ValuesMustFitTogether) {
  EXPECT_THAT(MessageOf("", {"train.tokens_per_step=10000"}),
              AllOf(HasSubstr("train.tokens_per_step is 10000"), HasSubstr("8 * 1024 = 8192")));
  EXPECT_THAT(MessageOf("", {"schedule.by=steps"}), HasSubstr("train.steps is 0"));
  EXPECT_THAT(MessageOf("", {"schedule.warmup=0.6"}), HasSubstr("schedule.warmdown is 0.6"));
  EXPECT_THAT(MessageOf("", {"schedule.batch_phases=[[0.5,8192],[0.4,8192]]"}),
              HasSubstr("that rise"));
  EXPECT_THAT(MessageOf("", {"schedule.mtp_weights=[1,0.5]"}), HasSubstr("model.predict_tokens"));
  EXPECT_THAT(MessageOf("", {"train.budget=1s"}), HasSubstr("clock.reserve"));
  EXPECT_THAT(MessageOf("", {"optimizer.head_lr=nan"}), HasSubstr("at least 0"));
  EXPECT_THAT(MessageOf("", {"optimizer.head_betas=[0.9, 1.0]"}), HasSubstr("head_betas"));
  EXPECT_THAT(MessageOf("", {"model.head_dim=100"}), HasSubstr("model.head_dim"));
  EXPECT_THAT(MessageOf("", {"eval.tokens=100"}), HasSubstr("eval.tokens"));
  EXPECT_THAT(MessageOf("", {"optimizer.ema_blend=0.5"}), HasSubstr("optimizer.ema_decay"));
}

TEST(Recipe, MissingFileIsNamed) {
  const auto recipe = LoadRecipe("/nonexistent/nano.toml");
  EXPECT_EQ(recipe.status().code(), Code::kNotFound);
  EXPECT_THAT(recipe.status().message(), HasSubstr("/nonexistent/nano.toml"));
}

TEST(Recipe, CanonicalTextReadsBackTheSame) {
  Philox random(1, 0);
  for (int round = 0; round < 50; ++round) {
    Recipe recipe;
    recipe.optimizer.muon_lr = random.NextUniform();
    recipe.optimizer.head.betas = {random.NextUniform(), 1.0 / (2 + random.NextBelow(100))};
    recipe.train.budget = 10 + static_cast<double>(random.NextBelow(100000)) / 1000;
    recipe.data.corpus = "a \"quoted\" \\ name\n\t\x01 \x7f ü";
    recipe.model.value_embedding_layers = {static_cast<int64_t>(random.NextBelow(3)), -1};
    const std::string text = RecipeToToml(recipe);
    const auto again = ParseRecipe(text, "again");
    ASSERT_TRUE(again.ok()) << again.status().message() << text;
    EXPECT_EQ(RecipeToToml(*again), text);
    EXPECT_EQ(again->optimizer.muon_lr, recipe.optimizer.muon_lr);
    EXPECT_EQ(again->data.corpus, recipe.data.corpus);
    EXPECT_EQ(RecipeHash(*again), RecipeHash(recipe));
  }
}

TEST(Recipe, HashSeesEveryKey) {
  const std::string before = RecipeHash(Recipe{});
  Recipe changed;
  changed.eval.rows = 9;
  EXPECT_NE(RecipeHash(changed), before);
}

TEST(RecipeKeys, AreUniqueAndDocumented) {
  std::set<std::string> seen;
  for (const RecipeKey& row : RecipeKeys()) {
    EXPECT_TRUE(seen.insert(row.name()).second) << row.name();
    EXPECT_GE(row.doc.size(), 6u) << row.name();
    EXPECT_FALSE(RecipeTableDoc(row.table).empty());
  }
  EXPECT_EQ(RecipeTables(),
            (std::vector<std::string>{"model", "init", "optimizer", "schedule", "data", "train",
                                      "loss", "toolchain", "machine", "clock", "eval"}));
}

// A value of the row's type that differs from the default.
std::string OtherValue(const RecipeKey& row) {
  const std::string now = row.write(Recipe{});
  if (row.type == "true or false") return now == "true" ? "false" : "true";
  if (row.type == "whole number") return "77";
  if (row.type == "number") return "0.0625";
  if (row.type == "text") return "\"other\"";
  if (row.type == "two numbers") return "[0.25, 0.125]";
  if (row.type == "list of pairs") return "[[0.25, 0.125]]";
  if (row.type == "list of numbers") return "[0.25]";
  if (row.type == "list of whole numbers") return "[3]";
  if (row.type.starts_with("duration")) return "\"17s\"";
  const size_t first_end = row.type.find(" | "), last = row.type.rfind(" | ");
  if (first_end == std::string::npos) return now;  // a choice of one
  const std::string choice = "\"" + row.type.substr(0, first_end) + "\"";
  return choice == now ? "\"" + row.type.substr(last + 3) + "\"" : choice;
}

// Each row must read and write its own field and no other.
TEST(RecipeKeys, EachRowReadsWhatItWrites) {
  for (const RecipeKey& row : RecipeKeys()) {
    const std::string value = OtherValue(row);
    const auto table = ParseToml(row.key + " = " + value, "row");
    ASSERT_TRUE(table.ok()) << row.name() << value;
    Recipe recipe;
    TableReader reader(&*table, row.table);
    row.read(reader, &recipe);
    ASSERT_TRUE(reader.Finish().ok()) << reader.Finish().message();
    EXPECT_EQ(row.write(recipe), value) << row.name();
    for (const RecipeKey& other : RecipeKeys()) {
      if (other.name() == row.name()) continue;
      EXPECT_EQ(other.write(recipe), other.write(Recipe{})) << row.name() << " " << other.name();
    }
  }
}

TEST(Recipes, ShippedFilesAreValid) {
  const std::string folder = WT_SOURCE_DIR "/recipes";
  const auto files = ListFiles(folder);
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) {
    if (!file.ends_with(".toml")) continue;
    EXPECT_TRUE(LoadRecipe(file).ok()) << LoadRecipe(file).status().message();
  }
  const auto baseline = LoadRecipe(folder + "/baseline.toml");
  ASSERT_TRUE(baseline.ok());
  EXPECT_EQ(baseline->model.heads(), 5);
  EXPECT_EQ(baseline->train.tokens_per_step, 65536);
  EXPECT_EQ(baseline->train.budget, 1800);
}

// Set WT_UPDATE_DOCS=1 to write the page anew after a change of the table.
TEST(Recipes, DocumentationPageIsCurrent) {
  const std::string path = WT_SOURCE_DIR "/docs/RECIPE.md";
  if (std::getenv("WT_UPDATE_DOCS")) {
    ASSERT_TRUE(WriteFileAtomic(path, RecipeKeysMarkdown()).ok());
  }
  const auto page = ReadFile(path);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(*page, RecipeKeysMarkdown()) << "run WT_UPDATE_DOCS=1 train_test to renew " << path;
  EXPECT_THAT(RecipeKeysText(), HasSubstr("depth = 6"));
}

}  // namespace
}  // namespace wt::train
