// An array on the host, as kernels take and give them: shape, element type, bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "base/dtype.h"
#include "chip/block_pool.h"

namespace wt::nki {

struct HostArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  chip::PoolBytes bytes;         // dense, the last dimension innermost; empty: shape only
  const void* origin = nullptr;  // names the simulated tensor it was fetched from; never followed

  int64_t elements() const {
    int64_t product = 1;
    for (int64_t size : shape) product *= size;
    return product;
  }
};

}  // namespace wt::nki
