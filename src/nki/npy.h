// NumPy's .npy files, format 1.0 to 3.0, without NumPy.
#pragma once

#include <optional>
#include <string>

#include "nki/host_array.h"

namespace wt::nki {

// `as`: the element type of raw bytes (dtype V2 of a saved bfloat16 array) or of unsigned integers
// of the same width.
Result<HostArray> ReadNpy(const std::string& path, std::optional<DType> as = std::nullopt);
// Types that NumPy lacks are written as raw bytes: V2, V1.
Status WriteNpy(const std::string& path, const HostArray& array);

}  // namespace wt::nki
