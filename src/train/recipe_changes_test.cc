#include "train/recipe_changes.h"

#include <gtest/gtest.h>

namespace wt::train {
namespace {

TEST(RecipeChanges, NamesWhatDiffers) {
  const auto before = ParseRecipe("[model]\ndepth = 4\n", "a");
  const auto after = ParseRecipe("[model]\ndepth = 6\n[data]\ncontext = 2048\n", "b");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_TRUE(ChangedKeys(*before, *before).empty());
  const std::vector<KeyChange> changes = ChangedKeys(*before, *after);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "model.depth");
  EXPECT_EQ(changes[0].before, "4");
  EXPECT_EQ(changes[0].after, "6");
  EXPECT_EQ(changes[1].key, "data.context");
}

}  // namespace
}  // namespace wt::train
