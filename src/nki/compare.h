// A kernel's result beside its reference: how far apart, and where first.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "nki/host_array.h"

namespace wt::nki {

// An element may be off by the sum of three parts.
struct Tolerance {
  double absolute = 0;
  double relative = 0;    // of the reference's element
  double of_largest = 0;  // of the reference's largest magnitude: what sums of large terms lose
};

// What rounding to `dtype` explains: a few units of its last place.
Tolerance DefaultTolerance(DType dtype);

struct Comparison {
  double max_error = 0;              // |result - reference|
  double max_relative_error = 0;     // over elements whose reference is not 0
  int64_t wrong = 0;                 // elements outside of the tolerance
  std::optional<int64_t> first;      // the first of them, in row-major order
  double result = 0, reference = 0;  // its two values
};

// Both as fp32. NaN equals NaN and infinities themselves; anything else with them is wrong.
Result<Comparison> Compare(const HostArray& result, const HostArray& reference,
                           Tolerance tolerance);

// "[3, 17]": where row-major element `index` stands.
std::string IndexText(const std::vector<int64_t>& shape, int64_t index);

}  // namespace wt::nki
