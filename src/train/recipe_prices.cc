#include "train/recipe_prices.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/toml_file.h"
#include "price/pricing.h"
#include "train/price_recipe.h"
#include "train/run_source.h"

namespace wt::train {
namespace {

constexpr double kBytesOfWeight = 4;

Status ReadCost(const toml::table& file, const std::string& key, double* out) {
  const toml::node* node = file.get(key);
  TableReader row(node ? node->as_table() : nullptr, key);
  std::string text;
  for (const char* word : {"source", "evidence", "note", "unit"}) row.Get(word, &text);
  *out = -1;
  row.Get("value", out);
  WT_RETURN_IF_ERROR(row.Finish());
  if (*out >= 0) return {};
  return Error(Code::kInvalidArgument, "{}: expected a value from 0", key);
}

// Seconds of one rank's forward pass over one micro-batch.
double ForwardSeconds(const price::StepPrice& step, double micro_batches) {
  double seconds = 0;
  for (const price::OpPrice& op : step.ops) {
    if (op.phase == nn::Phase::kForward) seconds += op.seconds();
  }
  return seconds / micro_batches;
}

}  // namespace

Result<RunCosts> RunCosts::Load() {
  const std::string path = FindPlaces().home + "/data/pricing/run.toml";
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, path));
  RunCosts costs;
  WT_RETURN_IF_ERROR(ReadCost(file, "startup_s", &costs.startup_s).WithContext(path));
  WT_RETURN_IF_ERROR(ReadCost(file, "compile_node_s", &costs.compile_node_s).WithContext(path));
  WT_RETURN_IF_ERROR(ReadCost(file, "save_s_per_byte", &costs.save_s_per_byte).WithContext(path));
  WT_RETURN_IF_ERROR(ReadCost(file, "average_bytes", &costs.average_bytes).WithContext(path));
  return costs;
}

Result<std::shared_ptr<RecipePrices>> RecipePrices::Create(const Recipe& recipe,
                                                           const nn::ModelFunction& model,
                                                           int64_t token_scale) {
  std::shared_ptr<RecipePrices> prices(new RecipePrices(recipe, model, token_scale));
  WT_ASSIGN_OR_RETURN(prices->costs_, RunCosts::Load());
  WT_ASSIGN_OR_RETURN(const price::Pricing pricing, price::LoadPricing("compiled"));
  prices->pass_bytes_per_s_ = pricing.constants.pass_bytes_per_s;
  WT_ASSIGN_OR_RETURN(const nn::StepProgram program, RankProgram(recipe, model));
  prices->parameters_ = program.ParameterCount();
  WT_ASSIGN_OR_RETURN(prices->full_step_, PriceRecipe(recipe, model));
  return prices;
}

Result<WorkPrice> RecipePrices::PriceOf(const Work& work) {
  const auto weights = kBytesOfWeight * static_cast<double>(parameters_);
  switch (work.reason) {
    case ChargeReason::kStartup:
      return WorkPrice{costs_.startup_s, "", 0};
    case ChargeReason::kStep:
      return PriceStepWork(work);
    case ChargeReason::kEval:
      return PriceEvaluation(work);
    case ChargeReason::kSave:
      return WorkPrice{weights * costs_.save_s_per_byte, "", 0};
    case ChargeReason::kCompile:
    case ChargeReason::kOther:
      break;
  }
  return Error(Code::kUnsupported, "work of the kind '{}' has no price",
               ChargeReasonName(work.reason));
}

Result<const price::StepPrice*> RecipePrices::StepOf(int64_t tokens, int64_t targets) {
  const auto found = steps_.find({tokens, targets});
  if (found != steps_.end()) return &found->second;
  Recipe recipe = recipe_;
  recipe.train.tokens_per_step = tokens;
  recipe.model.predict_tokens = std::max<int64_t>(1, targets);
  WT_ASSIGN_OR_RETURN(price::StepPrice price, PriceRecipe(recipe, model_));
  return &steps_.emplace(std::pair(tokens, targets), std::move(price)).first->second;
}

// A graph a micro-batch, made anew when the targets change; with the batches summed in the graph
// also when their number does.
Result<WorkPrice> RecipePrices::PriceStepWork(const Work& work) {
  const int64_t tokens = work.tokens * token_scale_;
  WT_ASSIGN_OR_RETURN(const price::StepPrice* step, StepOf(tokens, work.targets));
  const bool in_graph = recipe_.train.accumulate == price::Accumulate::kGraph;
  WorkPrice price;
  price.seconds = step->seconds;
  if (work.updates_average) {
    price.seconds += costs_.average_bytes * static_cast<double>(parameters_) / pass_bytes_per_s_;
  }
  price.program = fmt::format("step, {} targets{}", work.targets,
                              in_graph ? fmt::format(", {} tokens", tokens) : "");
  price.compile_seconds = CompileSeconds(*step, false);
  return price;
}

WorkPrice RecipePrices::PriceEvaluation(const Work& work) const {
  const auto at_once = static_cast<double>(recipe_.micro_batch_tokens() * recipe_.machine.ranks);
  const double micro_batches = static_cast<double>(recipe_.train.tokens_per_step) / at_once;
  const double batches = std::ceil(static_cast<double>(work.tokens) / at_once);
  return {batches * ForwardSeconds(full_step_, micro_batches), "evaluation",
          CompileSeconds(full_step_, true)};
}

double RecipePrices::CompileSeconds(const price::StepPrice& step, bool forward_only) const {
  const auto nodes = std::count_if(step.ops.begin(), step.ops.end(), [&](const auto& op) {
    return op.phase == nn::Phase::kForward || (!forward_only && op.phase == nn::Phase::kBackward);
  });
  return costs_.compile_node_s * static_cast<double>(nodes);
}

}  // namespace wt::train
