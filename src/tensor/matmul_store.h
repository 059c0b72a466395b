// The last step of a product whose fp32 sums were kept aside: add to C if asked, round once, write.
#pragma once

#include "tensor/view.h"

namespace wt::tensor {

// c (+)= sums, or its transpose; sums has rows of `ld` elements.
void StoreSums(const float* sums, int64_t ld, bool transposed, const Matrix& c, bool accumulate);

}  // namespace wt::tensor
