#include "nki/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace wt::nki {
namespace {

// Least number of letters added, removed or replaced.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggest(std::string_view given, const std::vector<std::string_view>& names) {
  constexpr size_t kLongest = 64;  // longer words are near to nothing
  std::string_view best;
  size_t least = std::max<size_t>(2, given.size() / 3) + 1;
  for (std::string_view name : names) {
    if (given.size() > kLongest) break;
    const bool prefix = !given.empty() && (name.starts_with(given) || given.starts_with(name));
    const size_t distance = prefix ? 1 : Distance(given, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  if (!best.empty()) return fmt::format("did you mean {}?", best);
  return fmt::format("expected one of {}", fmt::join(names, ", "));
}

}  // namespace wt::nki
