#include "price/price_plots.h"

#include <cmath>

#include "base/text_util.h"
#include "price/op_groups.h"
#include "price/svg.h"

namespace wt::price {
namespace {

constexpr double kWidth = 360;  // of a phone, so that text keeps its size there
constexpr double kRow = 27;     // a line of text over a bar
constexpr double kBar = 9;

// A place on a logarithmic axis.
struct LogAxis {
  double low, high;   // of the data
  double begin, end;  // of the drawing
  double At(double value) const {
    const double share = std::log10(value / low) / std::log10(high / low);
    return begin + (end - begin) * share;
  }
};

std::string PowerText(int exponent) {
  static const char* kPrefix[] = {"", "K", "M", "G", "T", "P"};
  if (exponent < 0) return fmt::format("{:g}", std::pow(10, exponent));
  const auto index = std::min<size_t>(static_cast<size_t>(exponent) / 3, std::size(kPrefix) - 1);
  return fmt::format("{:g}{}", std::pow(10, exponent - 3 * static_cast<int>(index)),
                     kPrefix[index]);
}

void DrawAxes(const LogAxis& x, const LogAxis& y, Svg* svg) {
  for (int e = static_cast<int>(std::ceil(std::log10(x.low))); std::pow(10, e) <= x.high; ++e) {
    const double at = x.At(std::pow(10, e));
    svg->Line(at, y.begin, at, y.end, "axis");
    svg->Text(at, y.begin + 13, "middle", "tick", PowerText(e));
  }
  for (int e = static_cast<int>(std::ceil(std::log10(y.low))); std::pow(10, e) <= y.high; ++e) {
    const double at = y.At(std::pow(10, e));
    svg->Line(x.begin, at, x.end, at, "axis");
    svg->Text(x.begin - 4, at + 3, "end", "tick", PowerText(e));
  }
  svg->Text((x.begin + x.end) / 2, y.begin + 27, "middle", "tick", "FLOP a byte of HBM");
  svg->Text(x.begin, y.end - 6, "start", "tick", "FLOP/s of a rank");
}

std::vector<OpGroup> Multiplying(const StepPrice& price) {
  std::vector<OpGroup> groups = GroupOps(price);
  std::erase_if(groups,
                [](const OpGroup& g) { return g.flops <= 0 || g.bytes <= 0 || g.seconds <= 0; });
  return groups;
}

}  // namespace

std::string WaterfallPlot(const StepPrice& price) {
  std::vector<WaterfallRow> rows;
  for (const WaterfallRow& row : WaterfallRows())
    if (price.waterfall.*row.member != 0) rows.push_back(row);
  Svg svg(kWidth, kRow * static_cast<double>(rows.size() + 1), "where the step's time goes");
  const double scale = kWidth / price.seconds;
  double before = 0, y = 0;
  const auto line = [&](const std::string& name, double seconds, double from, const char* style) {
    const std::string value =
        fmt::format("{:.1f} ms, {:.1f} %", 1e3 * seconds, 100 * seconds / price.seconds);
    svg.Text(0, y + 11, "start", "label", name);
    svg.Text(kWidth, y + 11, "end", "label", value);
    svg.Rect(from * scale, y + 14, seconds * scale, kBar, style, name + ": " + value, seconds);
    y += kRow;
  };
  for (const WaterfallRow& row : rows) {
    const double seconds = price.waterfall.*row.member;
    line(row.name, seconds, before, row.member == &Waterfall::ideal_compute ? "good" : "loss");
    before += seconds;
  }
  line("step", price.seconds, 0, "whole");
  return svg.Take();
}

std::string RooflinePlot(const StepPrice& price, const Roofs& roofs) {
  constexpr double kHeight = 250;
  Svg svg(kWidth, kHeight, "roofline: how close products come to the roofs of HBM and the array");
  const std::vector<OpGroup> groups = Multiplying(price);
  const double ridge = roofs.flops_per_s / roofs.bytes_per_s;
  LogAxis x = {ridge / 30, ridge * 30, 36, kWidth - 8};
  LogAxis y = {roofs.flops_per_s / 300, roofs.flops_per_s * 2, kHeight - 34, 20};
  for (const OpGroup& g : groups) {
    x.low = std::min(x.low, g.flops_per_byte() / 1.5);
    x.high = std::max(x.high, g.flops_per_byte() * 1.5);
    y.low = std::min(y.low, g.flops / g.seconds / 1.5);
  }
  DrawAxes(x, y, &svg);
  const double left = std::max(x.low, y.low / roofs.bytes_per_s);
  svg.Line(x.At(left), y.At(left * roofs.bytes_per_s), x.At(ridge), y.At(roofs.flops_per_s),
           "roof");
  svg.Line(x.At(ridge), y.At(roofs.flops_per_s), x.end, y.At(roofs.flops_per_s), "roof");
  svg.Text(x.end, y.At(roofs.flops_per_s) - 4, "end", "tick",
           fmt::format("array, {:.1f} TFLOP/s", roofs.flops_per_s / 1e12));
  svg.Text(x.At(ridge) - 8, y.At(roofs.flops_per_s) + 12, "end", "tick",
           fmt::format("HBM, {:.0f} GB/s", roofs.bytes_per_s / 1e9));
  for (const OpGroup& g : groups) {
    const double rate = g.flops / g.seconds;
    svg.Circle(x.At(g.flops_per_byte()), y.At(rate), 3 + 14 * std::sqrt(g.seconds / price.seconds),
               g.products > g.memory ? "point products" : "point memory",
               fmt::format("{}: {:.1f} ms, {:.1f} TFLOP/s, {:.0f} FLOP/byte, bound by {}", g.name(),
                           1e3 * g.seconds, rate / 1e12, g.flops_per_byte(), g.bound()),
               g.seconds);
  }
  return svg.Take();
}

std::string SensitivityPlot(const StepPrice& price) {
  const auto size = [](const Sensitivity& s) {
    return std::max(std::abs(s.minus), std::abs(s.plus));
  };
  std::vector<Sensitivity> rows = price.sensitivity;
  std::erase_if(rows, [&](const Sensitivity& s) { return size(s) < 0.0005; });
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Sensitivity& a, const Sensitivity& b) { return size(a) > size(b); });
  Svg svg(kWidth, kRow * static_cast<double>(rows.size()),
          "what each constant changes the step by");
  const double middle = kWidth / 2;
  const double scale = rows.empty() ? 0 : (middle - 2) / size(rows[0]);
  double y = 0;
  for (const Sensitivity& row : rows) {
    svg.Text(0, y + 11, "start", "label", row.constant);
    svg.Text(kWidth, y + 11, "end", "label",
             fmt::format("{:+.1f} %, {:+.1f} %", 100 * row.minus, 100 * row.plus));
    const auto bar = [&](double share, const char* style, const char* change) {
      const double width = std::abs(share) * scale;
      svg.Rect(share < 0 ? middle - width : middle, y + 14, width, kBar, style,
               fmt::format("{} {}: step {:+.2f} %", row.constant, change, 100 * share), share);
    };
    bar(row.minus, "minus", "10 % smaller");
    bar(row.plus, "plus", "10 % larger");
    y += kRow;
  }
  svg.Line(middle, 0, middle, std::max(y, 1.0), "axis");
  return svg.Take();
}

std::string HbmPlot(const HbmUse& hbm) {
  constexpr double kHeight = 26;
  Svg svg(kWidth, kHeight, "what lies in HBM at the peak");
  const double scale = kWidth / std::max(hbm.capacity, hbm.peak);
  svg.Rect(0, 4, hbm.capacity * scale, 16, "room", "capacity " + FormatBytes(hbm.capacity),
           hbm.capacity);
  double before = 0;
  const auto part = [&](const char* name, double bytes, const char* style) {
    if (bytes <= 0) return;
    svg.Rect(before * scale, 4, bytes * scale, 16, style,
             fmt::format("{}: {}", name, FormatBytes(bytes)), bytes);
    before += bytes;
  };
  part("parameters", hbm.parameters, "part1");
  part("gradients", hbm.gradients, "part2");
  part("optimiser state", hbm.state, "part3");
  part("cached weights", hbm.caches, "part4");
  part("activations", hbm.activations, "part5");
  part("logits", hbm.inner, "part6");
  return svg.Take();
}

}  // namespace wt::price
