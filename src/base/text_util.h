// Small helpers on names and numbers that several rooms print: nearest names for misspelt keys,
// durations, counts with units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt {

// The candidate with the smallest edit distance to `name`; "" when none is near (over 1/2 of its
// length).
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

// "a, b, c" for separator ", ".
std::string Join(const std::vector<std::string>& parts, std::string_view separator);

// The parts between separators; one empty part for an empty text.
std::vector<std::string> SplitText(std::string_view text, char separator);

// "90s", "30m", "4h", "1.5h", "250ms" or a bare number of seconds, in seconds. Requires a positive
// value.
Result<double> ParseDuration(std::string_view text);
std::string FormatDuration(double seconds);  // "2m 05s"
std::string FormatCount(double n);           // "59.6M"
std::string FormatBytes(double n);           // "1.2 GiB"

}  // namespace wt
