// Accumulation in PSUM, as the Tensor engine's instructions decide it: whether a product is added
// to what its destination holds.
#pragma once

#include "chip/execute.h"

namespace wt::chip::isa {

// `accumulate` is a parameter of True, False or None. An error where hardware does not define the
// sum: nothing is there, or (before NeuronCore-v4) something that no matmul wrote.
Result<bool> PsumAccumulates(ExecuteContext& context, int dst, int accumulate);

}  // namespace wt::chip::isa
