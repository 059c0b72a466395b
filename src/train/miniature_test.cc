#include "train/miniature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt::train {
namespace {

using testing::HasSubstr;

Recipe Baseline() {
  Recipe recipe;
  recipe.model.depth = 10;
  recipe.model.width = 640;
  recipe.model.head_dim = 128;
  recipe.model.context = 1024;
  recipe.train.tokens_per_step = 65536;
  recipe.train.rows_per_core = 8;
  return recipe;
}

TEST(MiniatureTest, ShrinksWidthDepthAndTokensTogether) {
  const auto miniature = MakeMiniature(Baseline(), 0.4);
  ASSERT_TRUE(miniature.ok()) << miniature.status().message();
  EXPECT_EQ(miniature->recipe.model.width, 256);
  EXPECT_EQ(miniature->recipe.model.depth, 4);
  EXPECT_EQ(miniature->token_scale, 4);  // 0.16, in powers of two
  EXPECT_EQ(miniature->recipe.train.tokens_per_step, 16384);
  EXPECT_EQ(miniature->recipe.train.budget, Baseline().train.budget);
}

TEST(MiniatureTest, AWholeOneIsTheRecipe) {
  const auto miniature = MakeMiniature(Baseline(), 1);
  ASSERT_TRUE(miniature.ok());
  EXPECT_EQ(RecipeHash(miniature->recipe), RecipeHash(Baseline()));
  EXPECT_EQ(miniature->token_scale, 1);
}

// Whatever the recipe and scale, the result is a valid recipe whose batches are whole.
TEST(MiniatureTest, IsValidAtEveryScale) {
  for (const int64_t kv_heads : {0, 1, 2, 4}) {
    for (double scale = 0.05; scale < 1; scale += 0.05) {
      Recipe recipe = Baseline();
      recipe.model.width = 1024;
      recipe.model.kv_heads = kv_heads;
      recipe.model.value_embedding_layers = {1, -1, -3};
      recipe.schedule.batch_phases = {{0.1, 16384}, {0.5, 32768}};
      const auto miniature = MakeMiniature(recipe, scale);
      ASSERT_TRUE(miniature.ok()) << scale << ": " << miniature.status().message();
      EXPECT_EQ(miniature->recipe.train.tokens_per_step * miniature->token_scale, 65536);
      EXPECT_EQ(miniature->recipe.schedule.batch_phases[0][1] *
                    static_cast<double>(miniature->token_scale),
                16384);
    }
  }
}

TEST(MiniatureTest, OtherScalesAreRefused) {
  for (const double scale : {0.0, -1.0, 1.5}) {
    EXPECT_THAT(MakeMiniature(Baseline(), scale).status().message(), HasSubstr("at most 1"));
  }
}

}  // namespace
}  // namespace wt::train
