#include "chip/isa/part.h"

#include "chip/convert.h"

namespace wt::chip::isa {
namespace parts {
namespace {

// The part as a walk of one row.
Walk WalkOf(const ExecuteContext& context, int param, Part part) {
  Walk walk = context.walk(param);
  AccessPattern& pattern = walk.pattern;
  pattern.start_partition += static_cast<int32_t>(part.partition * pattern.dims[0].step);
  pattern.dims[0].size = 1;
  if (part.columns >= 0 && pattern.num_dims > 1) pattern.dims[1].size = part.columns;
  return walk;
}

template <class T, class Move>
void ForElements(const Walk& walk, T* values, const Move& move) {
  ForRuns(walk.pattern, walk.Row(0), [&](std::byte* start, int64_t step, int64_t n) {
    move(walk.pattern.dtype, start, step, n, values);
    values += n;
  });
}

template <class T, class Load>
Result<std::vector<T>> Read(ExecuteContext& context, int param, Part part, const Load& load) {
  const Walk walk = WalkOf(context, param, part);
  WT_RETURN_IF_ERROR(context.CheckPartWritten(walk, param));
  std::vector<T> values(static_cast<size_t>(walk.row_elements()));
  ForElements(walk, values.data(), load);
  return values;
}

template <class T, class Store>
void Write(ExecuteContext& context, int param, Part part, std::span<const T> values,
           const Store& store) {
  const Walk walk = WalkOf(context, param, part);
  WT_CHECK(static_cast<int64_t>(values.size()) == walk.row_elements(), "{} of {} elements",
           values.size(), walk.row_elements());
  ForElements(walk, values.data(), store);
  MarkWritten(walk);
}

}  // namespace
}  // namespace parts

Result<std::vector<float>> ReadFloats(ExecuteContext& context, int param, Part part) {
  return parts::Read<float>(context, param, part, LoadFloats);
}

Result<std::vector<uint32_t>> ReadBits(ExecuteContext& context, int param, Part part) {
  return parts::Read<uint32_t>(context, param, part, LoadBits);
}

void WriteFloats(ExecuteContext& context, int param, Part part, std::span<const float> values) {
  parts::Write(context, param, part, values, StoreFloats);
}

void WriteInts(ExecuteContext& context, int param, Part part, std::span<const int64_t> values) {
  parts::Write(context, param, part, values, StoreInts);
}

void WriteBits(ExecuteContext& context, int param, Part part, std::span<const uint32_t> values) {
  parts::Write(context, param, part, values, StoreBits);
}

}  // namespace wt::chip::isa
