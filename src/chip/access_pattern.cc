#include "chip/access_pattern.h"

#include <algorithm>

#include "chip/error_class.h"

namespace wt::chip {

int64_t AccessPattern::free_elements() const {
  int64_t product = 1;
  for (int i = 1; i < num_dims; ++i) product *= dims[static_cast<size_t>(i)].size;
  return product;
}

int64_t AccessPattern::innermost_step() const {
  const AccessPattern merged = Merged();
  return merged.num_dims > 1 ? merged.dims[static_cast<size_t>(merged.num_dims - 1)].step : 1;
}

std::pair<int64_t, int64_t> AccessPattern::ByteRange() const {
  if (elements() == 0) return {0, 0};
  int64_t low = offset, high = offset;
  for (int i = on_chip() ? 1 : 0; i < num_dims; ++i) {
    const Dim& dim = dims[static_cast<size_t>(i)];
    const int64_t reach = dim.step * (dim.size - 1);
    (reach < 0 ? low : high) += reach;
  }
  const int64_t bytes = DTypeBytes(dtype);
  return {low * bytes, (high + 1) * bytes};
}

AccessPattern AccessPattern::Merged() const {
  AccessPattern merged = *this;
  merged.num_dims = 1;
  for (int i = 1; i < num_dims; ++i) {
    const Dim dim = dims[static_cast<size_t>(i)];
    if (dim.size == 1) continue;
    Dim& last = merged.dims[static_cast<size_t>(merged.num_dims - 1)];
    if (merged.num_dims > 1 && last.step == dim.step * dim.size) {
      last = {dim.step, last.size * dim.size};
    } else {
      merged.dims[static_cast<size_t>(merged.num_dims++)] = dim;
    }
  }
  return merged;
}

std::string Describe(const AccessPattern& pattern) {
  const Tensor& tensor = *pattern.tensor;
  std::string text = fmt::format("{} {}", MemoryName(tensor.memory),
                                 tensor.name.empty() ? fmt::format("#{}", tensor.id) : tensor.name);
  std::string sizes;
  for (int i = 0; i < pattern.num_dims; ++i) {
    const Dim& dim = pattern.dims[static_cast<size_t>(i)];
    sizes += fmt::format("{}{}", i == 0 ? "" : ", ", dim.size);
  }
  return fmt::format("{}[{}] {}", text, sizes, DTypeName(pattern.dtype));
}

namespace {

// First and last partition, or nothing outside the chip.
bool PartitionsInside(const AccessPattern& pattern) {
  if (!pattern.on_chip()) return true;
  const int64_t reach = pattern.dims[0].step * (pattern.dims[0].size - 1);
  const int64_t low = pattern.start_partition + std::min<int64_t>(reach, 0);
  const int64_t high = pattern.start_partition + std::max<int64_t>(reach, 0);
  return low >= 0 && high < pattern.tensor->partitions;
}

}  // namespace

bool InBounds(const AccessPattern& pattern) {
  if (pattern.elements() == 0) return true;
  const auto [begin, end] = pattern.ByteRange();
  return PartitionsInside(pattern) && begin >= 0 && end <= pattern.tensor->partition_bytes;
}

Status CheckBounds(const AccessPattern& pattern, const std::string& operand) {
  if (InBounds(pattern)) return {};
  const Tensor& tensor = *pattern.tensor;
  if (!PartitionsInside(pattern))
    return KernelError(ErrorClass::kOutOfBounds,
                       "{} covers partitions {} to {} of a tensor with {}; make the access smaller",
                       operand, pattern.start_partition,
                       pattern.start_partition + pattern.dims[0].step * (pattern.dims[0].size - 1),
                       tensor.partitions);
  const auto [begin, end] = pattern.ByteRange();
  const int64_t bytes = DTypeBytes(pattern.dtype);
  return KernelError(
      ErrorClass::kOutOfBounds, "{} covers elements {} to {} of {} ({}); make the access smaller",
      operand, begin / bytes, end / bytes - 1, tensor.partition_bytes / bytes, Describe(pattern));
}

}  // namespace wt::chip
