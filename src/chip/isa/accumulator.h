// The Vector engine's accumulator registers, one fp32 value a partition, as reduce_cmd steers them.
// tensor_scalar_reduce, tensor_scalar_cumulative, range_select, select_reduce and exponential share
// them. They hold what the engine computed, before it is rounded to dst.
#pragma once

#include <vector>

#include "chip/execute.h"

namespace wt::chip::isa {

// The values an instruction starts from: `identity` after reset_reduce (and idle, when they are
// thrown away), `init` after load_reduce, what is there after reduce. An error when nothing has set
// them. `init` is a kSrcOrFloat parameter, or -1.
Result<std::vector<float>> BeginAccumulate(ExecuteContext& context, ReduceCmd command,
                                           float identity, int init, int64_t partitions);

// Leaves the values in the registers; with idle they become unknown, as on hardware.
void EndAccumulate(ExecuteContext& context, ReduceCmd command, const std::vector<float>& values);

// reduce_res needs a command that accumulates, reduce_init exactly load_reduce.
Status CheckAccumulate(const Instr& instr, ReduceCmd command, int result, int init, int data);

}  // namespace wt::chip::isa
