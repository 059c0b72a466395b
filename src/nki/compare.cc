#include "nki/compare.h"

#include <algorithm>
#include <cmath>

#include "chip/convert.h"

namespace wt::nki {
namespace {

std::vector<float> Floats(const HostArray& array) {
  std::vector<float> values(static_cast<size_t>(array.elements()));
  chip::LoadFloats(array.dtype, array.bytes.data(), 1, array.elements(), values.data());
  return values;
}

std::string Shape(const HostArray& array) {
  return fmt::format("[{}]", fmt::join(array.shape, ", "));
}

// The largest finite magnitude.
double Largest(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

bool Within(double result, double reference, const Tolerance& tolerance) {
  if (std::isnan(result) || std::isnan(reference))
    return std::isnan(result) && std::isnan(reference);
  if (std::isinf(result) || std::isinf(reference)) return result == reference;
  return std::abs(result - reference) <=
         tolerance.absolute + tolerance.relative * std::abs(reference);
}

}  // namespace

Tolerance DefaultTolerance(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return {0, 1e-2, 1e-3};
    case DType::kF16:
      return {0, 2e-3, 2e-4};
    case DType::kF8E4M3:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return {0, 2.5e-1, 1e-2};
    default:
      return IsInteger(dtype) ? Tolerance{} : Tolerance{0, 1e-4, 2e-6};
  }
}

Result<Comparison> Compare(const HostArray& result, const HostArray& reference,
                           Tolerance tolerance) {
  if (result.shape != reference.shape) {
    return Error(Code::kMismatch, "the kernel gives {} and the reference {}; expected equal shapes",
                 Shape(result), Shape(reference));
  }
  const std::vector<float> results = Floats(result), references = Floats(reference);
  tolerance.absolute += tolerance.of_largest * Largest(references);
  Comparison comparison;
  for (size_t i = 0; i < results.size(); ++i) {
    const double error = std::abs(double{results[i]} - double{references[i]});
    if (std::isfinite(error)) {
      comparison.max_error = std::max(comparison.max_error, error);
      if (references[i] != 0) {
        const double relative = error / std::abs(double{references[i]});
        comparison.max_relative_error = std::max(comparison.max_relative_error, relative);
      }
    }
    if (Within(results[i], references[i], tolerance)) continue;
    if (comparison.wrong++ > 0) continue;
    comparison.first = static_cast<int64_t>(i);
    comparison.result = results[i];
    comparison.reference = references[i];
  }
  return comparison;
}

std::string IndexText(const std::vector<int64_t>& shape, int64_t index) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

}  // namespace wt::nki
