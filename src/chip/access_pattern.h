// How an operand walks over a tensor: a partition dimension and up to four free dimensions (HBM: up
// to five), each a step and a size in elements of `dtype`; step 0 repeats. chip.md 3.1 has the
// rules.
#pragma once

#include <array>

#include "chip/tensor.h"

namespace wt::chip {

struct Dim {
  int64_t step = 1;  // elements
  int64_t size = 1;
};

inline constexpr int kMaxDims = 6;  // the partition dimension and five free ones

struct AccessPattern {
  Tensor* tensor = nullptr;
  DType dtype = DType::kF32;  // how the bytes are read; may differ from tensor->dtype
  uint8_t num_dims = 1;  // dims[0 … num_dims - 1] are used; dims[0] is the partition dimension
  int32_t start_partition = 0;  // on-chip only
  int64_t offset = 0;  // elements of `dtype` from the start of a partition (HBM: of the tensor)
  std::array<Dim, kMaxDims>
      dims;  // outermost first; on-chip dims[0].step counts partitions (1, or 0: repeat)

  int64_t partitions() const { return dims[0].size; }
  int64_t free_elements() const;  // product of the free sizes, 1 without any
  int64_t elements() const { return partitions() * free_elements(); }
  int64_t bytes() const { return elements() * DTypeBytes(dtype); }
  bool on_chip() const { return IsOnChip(tensor->memory); }
  // Step of the innermost free dimension of more than one element, with dimensions that continue
  // one another merged; 1 for a single element.
  int64_t innermost_step() const;
  // First and one past the last byte touched within a partition (HBM: within the tensor).
  std::pair<int64_t, int64_t> ByteRange() const;

  // The same walk with neighbouring free dimensions merged where one continues the other and sizes
  // of 1 dropped: what hot loops run over.
  AccessPattern Merged() const;
};

// "sbuf x[0:128, 512:1024:2] bf16", for messages.
std::string Describe(const AccessPattern& pattern);

// Whether every element lies inside the tensor.
bool InBounds(const AccessPattern& pattern);
// Refuses patterns that leave their tensor, in the words of `operand` ("nc_matmul: moving").
Status CheckBounds(const AccessPattern& pattern, const std::string& operand);

}  // namespace wt::chip
