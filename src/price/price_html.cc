#include "price/price_html.h"

#include "base/text_util.h"
#include "price/op_groups.h"
#include "price/price_plots.h"
#include "price/svg.h"

namespace wt::price {
namespace {

constexpr const char* kStyle = R"(
:root{--back:#f6f7f9;--card:#fff;--ink:#1b2430;--dim:#5b6675;--rule:#dfe3e8;--good:#2b8a5a;--loss:#d0672b;
--whole:#3a4757;--one:#3b6fc4;--two:#c4913b;--room:#e6e9ed}
@media(prefers-color-scheme:dark){:root{--back:#12161c;--card:#1b212a;--ink:#e6eaf0;--dim:#9aa6b5;--rule:#303945;
--good:#4fbf8b;--loss:#e58a50;--whole:#aeb9c7;--one:#76a5f0;--two:#e0b566;--room:#2a323d}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:auto;padding:16px}
h1{font-size:1.3rem;margin:.3em 0;overflow-wrap:anywhere}h2{font-size:1rem;margin:0 0 .6em}
p{margin:.3em 0}.dim,figcaption{color:var(--dim);font-size:.87rem}
.grid{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));align-items:start}
.card{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:14px;margin:0 0 16px;min-width:0}
.grid .card{margin:0}
.facts{display:grid;gap:10px;grid-template-columns:repeat(auto-fit,minmax(130px,1fr))}
.facts div{font-size:.87rem;color:var(--dim)}.facts data{display:block;font-size:1.25rem;color:var(--ink)}
svg{display:block;width:100%;height:auto;max-width:560px}
svg text{font:10px system-ui,sans-serif;fill:var(--ink)}svg .tick{fill:var(--dim);font-size:9px}
line.axis{stroke:var(--rule);stroke-width:1}.roof{stroke:var(--whole);stroke-width:2}
.good,.plus{fill:var(--good)}.loss,.minus{fill:var(--loss)}.whole{fill:var(--whole)}.room{fill:var(--room)}
.point{fill-opacity:.65;stroke:var(--card)}.products{fill:var(--one)}.memory{fill:var(--two)}
.part1,.key1{fill:#3b6fc4;color:#3b6fc4}.part2,.key2{fill:#c4913b;color:#c4913b}.part3,.key3{fill:#2b8a5a;color:#2b8a5a}
.part4,.key4{fill:#8a5bb5;color:#8a5bb5}.part5,.key5{fill:#c44f5b;color:#c44f5b}.part6,.key6{fill:#3aa0a8;color:#3aa0a8}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.87rem}
th,td{padding:4px 8px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left}th{color:var(--dim);font-weight:600}
ul{margin:.3em 0;padding-left:1.2em}.warn{border-left:4px solid var(--loss)}
)";

// A figure: `value` for programs, `text` for people.
std::string Figure(const std::string& key, double value, const std::string& text) {
  return fmt::format("<data class=\"{}\" value=\"{}\">{}</data>", key, value, EscapeHtml(text));
}

std::string Card(const std::string& heading, const std::string& body) {
  return fmt::format("<section class=\"card\"><h2>{}</h2>\n{}</section>\n", heading, body);
}

std::string Plot(const std::string& svg, const std::string& caption) {
  return fmt::format("<figure style=\"margin:0\">{}<figcaption>{}</figcaption></figure>\n", svg,
                     caption);
}

std::string HeadHtml(const std::string& name, const StepPrice& p, const StepSetup& setup) {
  const auto fact = [](const char* what, const std::string& figure) {
    return fmt::format("<div>{}{}</div>\n", what, figure);
  };
  std::string facts =
      fact("a step", Figure("step_seconds", p.seconds, fmt::format("{:.3f} s", p.seconds))) +
      fact("at least", Figure("step_seconds_low", p.low, fmt::format("{:.3f} s", p.low))) +
      fact("at most", Figure("step_seconds_high", p.high, fmt::format("{:.3f} s", p.high))) +
      fact("tokens a second",
           Figure("tokens_per_second", p.tokens_per_second, FormatCount(p.tokens_per_second))) +
      fact("MFU", Figure("mfu", p.mfu, fmt::format("{:.1f} %", 100 * p.mfu))) +
      fact("steps in the budget",
           Figure("steps_in_budget", p.steps_in_budget, fmt::format("{:.0f}", p.steps_in_budget))) +
      fact("tokens in it",
           Figure("tokens_in_budget", p.tokens_in_budget, FormatCount(p.tokens_in_budget))) +
      fact("HBM of a rank", Figure("hbm_bytes_peak", p.hbm.peak, FormatBytes(p.hbm.peak)));
  return fmt::format(
      "<h1>{}</h1>\n<p class=\"dim\">{} tokens a step in {} micro-batches on {} ranks of {} cores "
      "of a {}; budget {}. Interval: {}.</p>\n<section class=\"card facts\">{}</section>\n",
      EscapeHtml(name), setup.tokens_per_step, setup.micro_batches, setup.machine.ranks,
      setup.machine.lnc, EscapeHtml(setup.machine.name), FormatDuration(setup.budget),
      EscapeHtml(p.trust.why), facts);
}

std::string OpsHtml(const StepPrice& p) {
  std::string rows;
  for (const OpGroup& g : GroupOps(p)) {
    if (g.seconds <= 0) continue;
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{}</td><td>{:.1f}</td><td>{:.0f} %</td>"
        "</tr>\n",
        EscapeHtml(g.name()), Figure("op", g.seconds, fmt::format("{:.2f} ms", 1e3 * g.seconds)),
        100 * g.seconds / p.seconds, g.bound(), g.flops_per_byte(), 100 * g.waste());
  }
  return "<div class=\"scroll\"><table><thead><tr><th>op</th><th>time</th><th>share</th>"
         "<th>bound</th><th>FLOP/byte</th><th>waste</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string HbmHtml(const HbmUse& hbm) {
  const std::tuple<const char*, const char*, double> parts[] = {
      {"parameters", "parameters", hbm.parameters},
      {"gradients", "gradients", hbm.gradients},
      {"optimizer_state", "optimiser state", hbm.state},
      {"cached_weights", "cached weights", hbm.caches},
      {"activations", "activations", hbm.activations},
      {"logits", "logits", hbm.inner}};
  std::string list;
  int index = 0;
  for (const auto& [key, name, bytes] : parts) {
    ++index;
    list += fmt::format("<li><span class=\"key{}\">&#9632;</span> {}: {}</li>\n", index, name,
                        Figure(fmt::format("hbm-{}", key), bytes, FormatBytes(bytes)));
  }
  return Plot(HbmPlot(hbm), fmt::format("{} of {}, at its peak in {}.", FormatBytes(hbm.peak),
                                        FormatBytes(hbm.capacity), EscapeHtml(hbm.peak_at))) +
         "<ul style=\"list-style:none;padding:0\">" + list + "</ul>\n";
}

std::string TrustHtml(const StepPrice& p) {
  std::string text = "<p>The step rests on</p><ul>\n";
  for (size_t i = 0; i < p.evidence.size(); ++i) {
    const char* name = chip::EvidenceName(chip::Evidence(i));
    text += fmt::format("<li>{} figures</li>\n",
                        Figure(fmt::format("evidence-{}", name), p.evidence[i],
                               fmt::format("{:.0f} % {}", 100 * p.evidence[i], name)));
  }
  text += "</ul>\n";
  const std::string promotion = PromotionText(p.promotion, p.seconds);
  if (!promotion.empty()) text += fmt::format("<p class=\"warn\">{}</p>\n", EscapeHtml(promotion));
  if (p.trust.flags.empty()) return text + "<p>No flag: measured steps are near.</p>\n";
  text += "<p>Flags</p><ul>\n";
  for (const std::string& flag : p.trust.flags)
    text += fmt::format("<li class=\"flag\">{}</li>\n", EscapeHtml(flag));
  return text + "</ul>\n";
}

std::string PlotsHtml(const StepPrice& p, const Roofs& roofs) {
  double without = 0;
  for (const OpGroup& g : GroupOps(p))
    if (g.flops <= 0) without += g.seconds;
  const std::string roofline = fmt::format(
      "Each point is an op of all blocks, its area the time. Ops without products ({:.1f} % of the "
      "step) have no place here.",
      100 * without / p.seconds);
  return "<div class=\"grid\">\n" +
         Card(
             "Where the step goes",
             Plot(WaterfallPlot(p), "From the model's products at the array's peak to the step.")) +
         Card("Roofline", Plot(RooflinePlot(p, roofs), roofline)) + Card("Memory", HbmHtml(p.hbm)) +
         Card("Sensitivity",
              Plot(SensitivityPlot(p),
                   "Change of the step when a constant is 10 % smaller, 10 % larger.")) +
         "</div>\n";
}

}  // namespace

std::string PriceHtml(const std::string& name, const StepPrice& price, const StepSetup& setup,
                      const Pricing& pricing, const chip::Machine& machine) {
  const auto cores = static_cast<double>(setup.machine.lnc);
  const Roofs roofs = {pricing.constants.pass_bytes_per_s * cores,
                       machine.peak_tflops_bf16 * 1e12 * cores};
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Price of {}</title>"
             "<style>{}</style></head>\n<body><main>\n",
             EscapeHtml(name), kStyle) +
         HeadHtml(name, price, setup) + PlotsHtml(price, roofs) + "<p></p>" +
         Card("Ops", OpsHtml(price)) + Card("How far to trust it", TrustHtml(price)) +
         "</main></body></html>\n";
}

}  // namespace wt::price
