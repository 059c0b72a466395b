#include "price/price_text.h"

namespace wt::price {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson WaterfallJson(const Waterfall& waterfall) {
  OrderedJson json;
  for (const WaterfallRow& row : WaterfallRows()) json[row.name] = waterfall.*row.member;
  return json;
}

OrderedJson OpJson(const OpPrice& op, double peak_flops) {
  const double seconds = op.each.seconds();
  OrderedJson json = {{"op", op.op},
                      {"scope", op.scope},
                      {"phase", nn::PhaseName(op.phase)},
                      {"times", op.times},
                      {"seconds", op.seconds()},
                      {"bound", BoundName(op.each.bound())},
                      {"products_s", op.each.products_s * op.times},
                      {"memory_s", (op.each.memory_s + op.each.short_heads_s) * op.times},
                      {"flops", op.each.flops},
                      {"bytes", op.each.bytes},
                      {"flops_per_byte", op.each.bytes > 0 ? op.each.flops / op.each.bytes : 0},
                      {"flops_per_second", seconds > 0 ? op.each.flops / seconds : 0},
                      {"mfu", seconds > 0 ? op.each.flops / seconds / peak_flops : 0},
                      {"bytes_per_second", seconds > 0 ? op.each.bytes / seconds : 0},
                      {"waste", op.waste},
                      {"evidence", chip::EvidenceName(op.evidence)}};
  if (!op.kernel.empty()) json["kernel"] = op.kernel;
  if (!op.basis.empty()) json["basis"] = op.basis;
  return json;
}

OrderedJson HbmJson(const HbmUse& hbm) {
  return {{"parameters", hbm.parameters},
          {"gradients", hbm.gradients},
          {"optimizer_state", hbm.state},
          {"cached_weights", hbm.caches},
          {"activations", hbm.activations},
          {"logits", hbm.inner},
          {"peak", hbm.peak},
          {"peak_at", hbm.peak_at},
          {"capacity", hbm.capacity},
          {"fits", hbm.fits()}};
}

OrderedJson FeaturesJson(const Features& f) {
  return {{"product_s", f.product_s},   {"bytes", f.bytes},
          {"head_bytes", f.head_bytes}, {"gathered_rows", f.gathered_rows},
          {"muon_flops", f.muon_flops}, {"matrices", f.matrices},
          {"scalars", f.scalars},       {"launches", f.launches}};
}

}  // namespace

nlohmann::ordered_json PriceJson(const StepPrice& price) {
  OrderedJson json = {{"step_seconds", price.seconds},
                      {"step_seconds_low", price.low},
                      {"step_seconds_high", price.high},
                      {"interval", price.trust.why},
                      {"tokens_per_second", price.tokens_per_second},
                      {"mfu", price.mfu},
                      {"steps_in_budget", price.steps_in_budget},
                      {"tokens_in_budget", price.tokens_in_budget},
                      {"hbm_bytes_peak", price.hbm.peak},
                      {"hbm", HbmJson(price.hbm)},
                      {"waterfall", WaterfallJson(price.waterfall)}};
  json["ops"] = OrderedJson::array();
  for (const OpPrice& op : price.ops) {
    if (op.seconds() > 0) json["ops"].push_back(OpJson(op, price.rank_peak_flops));
  }
  json["kernels"] = price.kernel_notes;
  json["flags"] = price.trust.flags;
  json["promotion"] = {{"products", price.promotion.products},
                       {"tensors", price.promotion.tensors},
                       {"first", price.promotion.first},
                       {"seconds", price.promotion.seconds()}};
  for (size_t i = 0; i < price.evidence.size(); ++i) {
    json["evidence"][chip::EvidenceName(chip::Evidence(i))] = price.evidence[i];
  }
  for (const Sensitivity& row : price.sensitivity) {
    json["sensitivity"][row.constant] = {row.minus, row.plus};
  }
  json["features"] = FeaturesJson(price.features);
  return json;
}

}  // namespace wt::price
