#include "base/text_util.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace wt {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({replace, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

std::string WithUnits(double n, double base, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (std::abs(n) >= base && unit + 1 < units.size()) n /= base, ++unit;
  return unit == 0 ? fmt::format("{:.0f}{}", n, units[0]) : fmt::format("{:.3g}{}", n, units[unit]);
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0;;) {
    const size_t next = text.find(separator, at);
    parts.emplace_back(text.substr(at, next == std::string_view::npos ? next : next - at));
    if (next == std::string_view::npos) return parts;
    at = next + 1;
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) text += separator;
    text += parts[i];
  }
  return text;
}

Result<double> ParseDuration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double scale = unit == "" || unit == "s" ? 1
                       : unit == "ms"            ? 1e-3
                       : unit == "m"             ? 60
                       : unit == "h"             ? 3600
                                                 : 0;
  if (error != std::errc() || scale == 0 || !(value > 0) || !std::isfinite(value)) {
    return Error(Code::kInvalidArgument,
                 "duration '{}' is not valid; expected for example 60s, 30m, 4h", text);
  }
  return value * scale;
}

std::string FormatDuration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f}s", seconds);
  const long whole = std::lround(seconds);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

std::string FormatCount(double n) { return WithUnits(n, 1000, {"", "K", "M", "G", "T", "P"}); }

std::string FormatBytes(double n) {
  return WithUnits(n, 1024, {" B", " KiB", " MiB", " GiB", " TiB"});
}

}  // namespace wt
