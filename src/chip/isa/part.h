// A part of an operand: one partition, and the first of its columns. For instructions that read or
// write less than the operand spans, where what they leave alone may be unwritten and must stay as
// it is. Parameters read so are marked `partial` in the row, and checked here.
#pragma once

#include <span>
#include <vector>

#include "chip/execute.h"

namespace wt::chip::isa {

struct Part {
  int64_t partition = 0;
  int64_t columns = -1;  // all; anything else requires at most one free dimension
};

Result<std::vector<float>> ReadFloats(ExecuteContext& context, int param, Part part);
Result<std::vector<uint32_t>> ReadBits(ExecuteContext& context, int param, Part part);
void WriteFloats(ExecuteContext& context, int param, Part part, std::span<const float> values);
void WriteInts(ExecuteContext& context, int param, Part part, std::span<const int64_t> values);
void WriteBits(ExecuteContext& context, int param, Part part, std::span<const uint32_t> values);

}  // namespace wt::chip::isa
