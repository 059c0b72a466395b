#include "train/miniature.h"

#include <algorithm>
#include <cmath>

namespace wt::train {
namespace {

int64_t Scaled(int64_t n, double scale) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(n) * scale));
}

// Whether all batches of the recipe can be cut to 1 / `token_scale` in whole rows.
bool Divides(const Recipe& recipe, int64_t token_scale) {
  const int64_t part = token_scale * recipe.model.context;
  if (recipe.train.tokens_per_step % part != 0) return false;
  const auto& phases = recipe.schedule.batch_phases;
  return std::all_of(phases.begin(), phases.end(),
                     [&](const auto& phase) { return static_cast<int64_t>(phase[1]) % part == 0; });
}

// As many rows of a micro-batch as the batches can be cut into.
int64_t Rows(const Recipe& recipe) {
  int64_t rows = recipe.train.rows_per_core;
  while (rows > 1 && !Divides(recipe, rows)) --rows;
  return rows;
}

void ScaleModel(nn::ModelConfig* model, double scale) {
  const int64_t heads = Scaled(model->heads(), scale);
  if (model->kv_heads > 0) {
    model->kv_heads = std::min(model->kv_heads, heads);
    while (heads % model->kv_heads != 0) --model->kv_heads;
  }
  model->width = heads * model->head_dim;
  model->depth = Scaled(model->depth, scale);
  std::erase_if(model->value_embedding_layers,
                [&](int64_t layer) { return layer >= model->depth || layer < -model->depth; });
}

}  // namespace

Result<Miniature> MakeMiniature(const Recipe& recipe, double scale) {
  if (!(scale > 0 && scale <= 1)) {
    return Error(Code::kInvalidArgument,
                 "scale {}: expected a share of the model, above 0 and at most 1", scale);
  }
  Miniature miniature{recipe, 1};
  if (scale == 1) return miniature;
  ScaleModel(&miniature.recipe.model, scale);
  while (static_cast<double>(2 * miniature.token_scale) * scale * scale <= 1 &&
         Divides(recipe, 2 * miniature.token_scale)) {
    miniature.token_scale *= 2;
  }
  TrainConfig& train = miniature.recipe.train;
  train.tokens_per_step /= miniature.token_scale;
  for (auto& phase : miniature.recipe.schedule.batch_phases) {
    phase[1] /= static_cast<double>(miniature.token_scale);
  }
  train.rows_per_core = Rows(miniature.recipe);
  WT_RETURN_IF_ERROR(ValidateRecipe(miniature.recipe));
  return miniature;
}

}  // namespace wt::train
