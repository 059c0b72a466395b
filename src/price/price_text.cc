#include "price/price_text.h"

#include <map>

#include "base/text_util.h"
#include "price/op_groups.h"

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

std::string OpLine(const OpGroup& group, double step) {
  return fmt::format("  {:<36}{:8.1f} ms {:5.1f} %  {:<9}{:8.1f} FLOP/byte  {:4.0f} % waste\n",
                     group.name(), 1e3 * group.seconds, 100 * group.seconds / step, group.bound(),
                     group.flops_per_byte(), 100 * group.waste());
}

std::string OpsText(const StepPrice& p) {
  const std::vector<OpGroup> order = GroupOps(p);
  std::string text = "\nops that take longest (all of them with --json)\n";
  for (size_t i = 0; i < std::min(order.size(), kOpRows); ++i) text += OpLine(order[i], p.seconds);
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
