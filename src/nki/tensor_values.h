// The values of a tensor at this point of the kernel, for outputs, device_print and tests.
#pragma once

#include "nki/host_array.h"
#include "nki/view.h"

namespace wt::nki {

struct FetchedTensor {
  HostArray array;        // without bytes when values are not simulated
  int64_t unwritten = 0;  // elements that nothing wrote; they are all ones: NaN
};

Result<FetchedTensor> Fetch(const View& view);

}  // namespace wt::nki
