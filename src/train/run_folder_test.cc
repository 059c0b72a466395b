#include "train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "train/test_util.h"

namespace wt::train {
namespace {

using ::testing::HasSubstr;

TEST(RunFolder, KeepsTheCompleteRecipe) {
  TempFolder temp;
  Recipe recipe;
  recipe.train.seed = 17;
  const auto run = RunFolder::Create(temp / "runs/a", recipe);
  ASSERT_TRUE(run.ok()) << run.status().message();
  const auto again = LoadRecipe(run->recipe_path());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(RecipeHash(*again), RecipeHash(recipe));
}

TEST(RunFolder, ARunIsNotOverwritten) {
  TempFolder temp;
  { ASSERT_TRUE(RunFolder::Create(temp / "a", {}).ok()); }
  const auto again = RunFolder::Create(temp / "a", {});
  EXPECT_EQ(again.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(again.status().message(), HasSubstr("holds a run already"));
  EXPECT_TRUE(RunFolder::Open(temp / "a").ok());
  EXPECT_EQ(RunFolder::Open(temp / "b").status().code(), Code::kNotFound);
}

TEST(RunFolder, OneProcessAtATime) {
  TempFolder temp;
  const auto run = RunFolder::Create(temp / "a", {});
  EXPECT_THAT(RunFolder::Open(temp / "a").status().message(),
              HasSubstr("in use by another process"));
}

}  // namespace
}  // namespace wt::train
