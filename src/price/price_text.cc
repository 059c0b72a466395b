#include "price/price_text.h"

#include <map>

#include "base/text_util.h"

namespace wt::price {
namespace {

constexpr size_t kOpRows = 14;

// What a part of the waterfall stands for.
const char* PartDoc(const std::string& name) {
  static const std::map<std::string, const char*> docs = {
      {"ideal_compute", "the model's products at the array's bf16 peak"},
      {"precision", "products of fp32 operands"},
      {"tile_waste", "masked and padded products, and what compiled ones do not reach"},
      {"memory_passes", "tensors through HBM, a pass for each op"},
      {"short_head_traffic", "tensors cut into heads of 128 channels and less"},
      {"gathers", "rows of value embeddings"},
      {"engines", "kernels that the vector and scalar engines bound"},
      {"optimizer", "Newton-Schulz products, and kernels of the update"},
      {"dispatch", "the host, op by op"},
      {"fixed", "the host, once a step"}};
  return docs.at(name);
}

std::string HeadText(const StepPrice& p, const StepSetup& setup) {
  std::string text = fmt::format("step       {:.3f} s, {:.3f} to {:.3f} ({})\n", p.seconds, p.low,
                                 p.high, p.trust.why);
  text += fmt::format("tokens/s   {:.0f}, {} a step in {} micro-batches on {} ranks of {} cores\n",
                      p.tokens_per_second, setup.tokens_per_step, setup.micro_batches,
                      setup.machine.ranks, setup.machine.lnc);
  text += fmt::format("MFU        {:.1f} % of the bf16 peak\n", 100 * p.mfu);
  text += fmt::format("budget     {} = {:.0f} steps, {} tokens\n", FormatDuration(setup.budget),
                      p.steps_in_budget, FormatCount(p.tokens_in_budget));
  text += fmt::format("HBM        {} of {} a rank at most, in {}\n", FormatBytes(p.hbm.peak),
                      FormatBytes(p.hbm.capacity), p.hbm.peak_at);
  return text;
}

std::string WaterfallText(const StepPrice& p) {
  std::string text = "\nwhere the step goes\n";
  for (const WaterfallRow& row : WaterfallRows()) {
    const double seconds = p.waterfall.*row.member;
    if (seconds == 0) continue;
    text += fmt::format("  {:<20}{:7.1f} ms {:5.1f} %  {}\n", row.name, 1e3 * seconds,
                        100 * seconds / p.seconds, PartDoc(row.name));
  }
  return text;
}

// "layer7.mlp" to "layers.mlp": the same op of every block is one line.
std::string PlaceOf(const std::string& scope) {
  if (!scope.starts_with("layer")) return scope;
  const size_t end = scope.find_first_not_of("0123456789", 5);
  return "layers" + (end == std::string::npos ? "" : scope.substr(end));
}

struct OpGroup {
  double seconds = 0, products = 0, memory = 0, engines = 0, flops = 0, bytes = 0, waste_s = 0;
};

const char* BoundOf(const OpGroup& group) {
  if (group.engines > std::max(group.products, group.memory)) return "engines";
  return group.products > group.memory ? "products" : "memory";
}

std::string OpLine(const std::string& name, const OpGroup& group, double step) {
  const double per_byte = group.bytes > 0 ? group.flops / group.bytes : 0;
  return fmt::format("  {:<36}{:8.1f} ms {:5.1f} %  {:<9}{:8.1f} FLOP/byte  {:4.0f} % waste\n",
                     name, 1e3 * group.seconds, 100 * group.seconds / step, BoundOf(group),
                     per_byte, group.products > 0 ? 100 * group.waste_s / group.products : 0);
}

std::string OpsText(const StepPrice& p) {
  std::map<std::string, OpGroup> groups;
  for (const OpPrice& op : p.ops) {
    OpGroup& group = groups[fmt::format("{} in {}", op.op, PlaceOf(op.scope))];
    group.seconds += op.seconds();
    group.products += op.times * op.each.products_s;
    group.engines += op.times * op.each.engines_s;
    group.memory += op.seconds() - op.times * (op.each.products_s + op.each.engines_s);
    group.flops += op.times * op.each.flops;
    group.bytes += op.times * op.each.bytes;
    group.waste_s += op.times * op.each.products_s * op.waste;
  }
  std::vector<std::pair<std::string, OpGroup>> order(groups.begin(), groups.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  std::string text = "\nops that take longest (all of them with --json)\n";
  for (size_t i = 0; i < std::min(order.size(), kOpRows); ++i) {
    text += OpLine(order[i].first, order[i].second, p.seconds);
  }
  return text;
}

std::string KernelsText(const StepPrice& p) {
  if (p.kernel_notes.empty()) return "";
  std::string text = "\nkernels\n";
  for (const std::string& note : p.kernel_notes) text += "  " + note + "\n";
  return text;
}

std::string SensitivityText(const StepPrice& p) {
  std::string text = "\na constant 10 % smaller or larger changes the step by\n";
  for (const Sensitivity& row : p.sensitivity) {
    if (std::max(std::abs(row.minus), std::abs(row.plus)) < 0.0005) continue;
    text += fmt::format("  {:<20}{:+6.1f} %  {:+6.1f} %\n", row.constant, 100 * row.minus,
                        100 * row.plus);
  }
  return text;
}

std::string TrustText(const StepPrice& p) {
  std::string text = "\nrests on ";
  std::vector<std::string> shares;
  for (size_t i = 0; i < p.evidence.size(); ++i) {
    if (p.evidence[i] < 0.0005) continue;
    shares.push_back(
        fmt::format("{:.0f} % {}", 100 * p.evidence[i], chip::EvidenceName(chip::Evidence(i))));
  }
  text += Join(shares, ", ") + " figures\n";
  for (const std::string& flag : p.trust.flags) text += "  note: " + flag + "\n";
  const std::string promotion = PromotionText(p.promotion, p.seconds);
  if (!promotion.empty()) text += "  warning: " + promotion + "\n";
  return text;
}

}  // namespace

std::string PriceText(const StepPrice& price, const StepSetup& setup) {
  return HeadText(price, setup) + WaterfallText(price) + OpsText(price) + KernelsText(price) +
         SensitivityText(price) + TrustText(price);
}

}  // namespace wt::price
