#include "train/price_recipe.h"

#include "base/text_util.h"
#include "train/run_source.h"
#include "train/update.h"

namespace wt::train {
namespace {

struct Change {
  std::string text;  // "train.rows_per_core = 4"
  Recipe recipe;
};

// What people give up last comes last.
std::vector<Change> SmallerRecipes(const Recipe& recipe) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& text, auto change) {
    changes.push_back({text, recipe});
    change(&changes.back().recipe);
  };
  for (int64_t rows = recipe.train.rows_per_core / 2; rows >= 1; rows /= 2) {
    add(fmt::format("train.rows_per_core = {}", rows),
        [&](Recipe* r) { r->train.rows_per_core = rows; });
  }
  add("train.recompute = \"block\"", [](Recipe* r) { r->train.recompute = nn::Recompute::kBlock; });
  add("loss.fused = true", [](Recipe* r) { r->loss.fused = true; });
  add("optimizer.sharding = \"zero2\"",
      [](Recipe* r) { r->optimizer.sharding = price::Sharding::kZero2; });
  for (int64_t depth = recipe.model.depth / 2; depth >= 1; depth /= 2) {
    add(fmt::format("model.depth = {}", depth), [&](Recipe* r) { r->model.depth = depth; });
  }
  const int64_t head_dim = recipe.model.head_dim;
  for (int64_t heads = recipe.model.heads() / 2; heads >= 1; heads /= 2) {
    add(fmt::format("model.width = {}", heads * head_dim),
        [&](Recipe* r) { r->model.width = heads * head_dim; });
  }
  return changes;
}

// The key that a change is of; the first that fits is enough.
std::string KeyOf(const Change& change) { return change.text.substr(0, change.text.find(' ')); }

Result<price::HbmUse> HbmOf(const Recipe& recipe, const nn::ModelFunction& model,
                            const chip::Machine& machine) {
  WT_RETURN_IF_ERROR(ValidateRecipe(recipe));
  WT_ASSIGN_OR_RETURN(const price::StepSetup setup, PriceSetupOf(recipe));
  WT_ASSIGN_OR_RETURN(const nn::StepProgram program, RankProgram(recipe, model));
  return price::CountHbm(program, setup, machine);
}

std::string LargestPart(const price::HbmUse& use) {
  const std::pair<double, const char*> parts[] = {
      {use.activations, "activations"}, {use.inner, "logits"},
      {use.parameters, "parameters"},   {use.gradients, "gradients"},
      {use.state, "optimiser state"},   {use.caches, "bf16 weights"}};
  const auto& largest = *std::max_element(std::begin(parts), std::end(parts));
  return fmt::format("{} of {}", FormatBytes(largest.first), largest.second);
}

Status DoesNotFit(const Recipe& recipe, const nn::ModelFunction& model,
                  const chip::Machine& machine, const price::HbmUse& use) {
  constexpr size_t kChanges = 3;
  std::vector<std::string> fits, keys;
  for (const Change& change : SmallerRecipes(recipe)) {
    if (fits.size() == kChanges) break;
    if (std::find(keys.begin(), keys.end(), KeyOf(change)) != keys.end()) continue;
    const Result<price::HbmUse> smaller = HbmOf(change.recipe, model, machine);
    if (!smaller.ok() || !smaller->fits()) continue;
    keys.push_back(KeyOf(change));
    fits.push_back(fmt::format("{} ({})", change.text, FormatBytes(smaller->peak)));
  }
  return Error(Code::kCapacity,
               "the step needs {} of HBM on a rank that has {}: {} too much, most of it {}, at its "
               "peak in {}. {}",
               FormatBytes(use.peak), FormatBytes(use.capacity),
               FormatBytes(use.peak - use.capacity), LargestPart(use), use.peak_at,
               fits.empty() ? "No single change fits it; halve model.width and rows_per_core"
                            : "Each of these alone fits it: " + Join(fits, "; "));
}

}  // namespace

Result<price::StepSetup> PriceSetupOf(const Recipe& recipe) {
  const int64_t at_once = recipe.micro_batch_tokens() * recipe.machine.ranks;
  if (recipe.train.tokens_per_step % at_once != 0) {
    return Error(
        Code::kInvalidArgument,
        "train.tokens_per_step is {}; expected a multiple of machine.ranks * "
        "train.rows_per_core * data.context = {} * {} * {} = {}; set fewer ranks or rows, or "
        "a larger step",
        recipe.train.tokens_per_step, recipe.machine.ranks, recipe.train.rows_per_core,
        recipe.model.context, at_once);
  }
  price::StepSetup setup;
  setup.toolchain = recipe.toolchain;
  setup.machine = recipe.machine;
  setup.sharding = recipe.optimizer.sharding;
  setup.scalars = recipe.optimizer.scalars;
  setup.dispatch = recipe.optimizer.dispatch;
  setup.accumulate = recipe.train.accumulate;
  setup.fused_loss = recipe.loss.fused;
  setup.context = recipe.model.context;
  setup.tokens_per_step = recipe.train.tokens_per_step;
  setup.micro_batches = recipe.train.tokens_per_step / at_once;
  setup.budget = recipe.train.budget;
  return setup;
}

Result<nn::StepProgram> RankProgram(const Recipe& recipe, const nn::ModelFunction& model) {
  const auto groups = [&](const nn::StepProgram& program) {
    return MakeGroups(recipe.optimizer, program);
  };
  const nn::TrainOptions options = {recipe.train.rows_per_core, recipe.train.recompute,
                                    recipe.optimizer.grad_clip};
  WT_ASSIGN_OR_RETURN(nn::TrainProgram made,
                      nn::MakeTrainProgram(recipe.model, model, groups, options));
  return std::move(made.program);
}

Result<price::StepPrice> PriceRecipe(
    const Recipe& recipe, const nn::ModelFunction& model,
    const std::function<void(size_t, size_t, const std::string&)>& progress) {
  WT_ASSIGN_OR_RETURN(const price::StepSetup setup, PriceSetupOf(recipe));
  WT_ASSIGN_OR_RETURN(const price::Pricing pricing, price::LoadPricing("compiled"));
  WT_ASSIGN_OR_RETURN(const auto machine, chip::Machine::Load(recipe.machine.name));
  WT_ASSIGN_OR_RETURN(const nn::StepProgram program, RankProgram(recipe, model));
  const bool library = recipe.toolchain.mode == price::Mode::kKernels;
  std::optional<price::KernelPrices> kernels;
  if (library || !recipe.kernels.empty()) {
    const price::KernelRequest request = {recipe.kernels, library,
                                          FindPlaces().cache + "/kernel_times", progress};
    WT_ASSIGN_OR_RETURN(kernels, price::PriceKernels(program, setup, machine, request));
  }
  WT_ASSIGN_OR_RETURN(price::StepPrice price, price::PriceStep(program, setup, pricing, *machine,
                                                               kernels ? &*kernels : nullptr));
  if (!price.hbm.fits()) return DoesNotFit(recipe, model, *machine, price.hbm);
  return price;
}

}  // namespace wt::train
