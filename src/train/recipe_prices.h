// RecipePrices: the price list of a recipe. Steps are priced by their program (price room), one
// price for each size of batch and number of targets; start-up, compilation, evaluation and saving
// by data/pricing/run.toml.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "nn/gpt.h"
#include "price/step_price.h"
#include "train/price_list.h"
#include "train/recipe.h"

namespace wt::train {

// What a run takes beside its steps; data/pricing/run.toml has sources.
struct RunCosts {
  double startup_s = 0;        // from the launch to the first step, nothing to compile
  double compile_node_s = 0;   // compiling one op of a program
  double save_s_per_byte = 0;  // of the weights
  double average_bytes = 0;    // through HBM, of a weight when the running average moves
  static Result<RunCosts> Load();
};

class RecipePrices : public PriceList {
 public:
  // `recipe` is what the chip would run. Steps may be those of a miniature of it (miniature.h),
  // with 1 / `token_scale` of the tokens. Fails as PriceRecipe does.
  static Result<std::shared_ptr<RecipePrices>> Create(const Recipe& recipe,
                                                      const nn::ModelFunction& model,
                                                      int64_t token_scale = 1);

  Result<WorkPrice> PriceOf(const Work& work) override;

  // A step at the recipe's full batch, all targets counted.
  const price::StepPrice& full_step() const { return full_step_; }

 private:
  RecipePrices(const Recipe& recipe, const nn::ModelFunction& model, int64_t token_scale)
      : recipe_(recipe), model_(model), token_scale_(token_scale) {}
  Result<const price::StepPrice*> StepOf(int64_t tokens, int64_t targets);
  Result<WorkPrice> PriceStepWork(const Work& work);
  WorkPrice PriceEvaluation(const Work& work) const;
  double CompileSeconds(const price::StepPrice& step, bool forward_only) const;

  Recipe recipe_;
  nn::ModelFunction model_;
  int64_t token_scale_;
  RunCosts costs_;
  price::StepPrice full_step_;
  double pass_bytes_per_s_ = 0;
  int64_t parameters_ = 0;
  std::map<std::pair<int64_t, int64_t>, price::StepPrice> steps_;
};

}  // namespace wt::train
