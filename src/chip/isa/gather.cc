// Gathers within SBUF by GpSimd: local_gather, where the 16 partitions of one GpSimd core share a
// list of indices, and nc_n_gather, where each partition has its own.
#include <array>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace gathers {
namespace {

constexpr int64_t kCorePartitions = 16;  // of one GpSimd core
constexpr int64_t kMostIndices = 4096;   // of one core and instruction

Status IndexOutside(const Instr& instr, int param, size_t partition, int64_t index, int64_t count) {
  return KernelError(ErrorClass::kOutOfBounds,
                     "{} holds {} in partition {}, and a partition of the data has {} elements; "
                     "hardware does not define what is read: keep indices inside",
                     OperandName(instr, param), index, partition, count);
}

// local_gather ----------------------------------------------------------------------------------

constexpr Param kLocalGatherParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf},
    {"src_buffer", ParamKind::kSrc, nullptr, kInSbuf},
    {"index", ParamKind::kSrc, nullptr, kInSbuf, Types({DType::kU16})},
    {"num_elem_per_idx", ParamKind::kInt, "1"},
    {"num_valid_indices", ParamKind::kInt, "None"},
    kNameParam,
};

int64_t IndicesPerCore(const Instr& instr) {
  return kCorePartitions * instr.operand(local_gather::kIndex).free_elements();
}

Status CheckLocalGather(const Machine&, const Instr& instr) {
  using namespace local_gather;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kSrcBuffer, kIndex, kDst}));
  WT_RETURN_IF_ERROR(CheckPartitionMultiple(instr, kSrcBuffer, kCorePartitions));
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kSrcBuffer, kDst));
  const int64_t run = IntOf(instr, kNumElemPerIdx, 1);
  if (run < 1 || run > 32 || (run & (run - 1)) != 0) {
    return KernelError(ErrorClass::kArgument, "{} is {}; expected 1, 2, 4, 8, 16 or 32",
                       OperandName(instr, kNumElemPerIdx), run);
  }
  const int64_t valid = IntOf(instr, kNumValidIndices, IndicesPerCore(instr));
  const int64_t most = std::min(IndicesPerCore(instr), kMostIndices);
  if (valid < 1 || valid > most) {
    return KernelError(ErrorClass::kArgument,
                       "local_gather: {} indices for each GpSimd core; expected 1 to {}: 16 "
                       "partitions of index hold {}, and one instruction takes {}",
                       valid, most, IndicesPerCore(instr), kMostIndices);
  }
  return CheckFreeElements(instr, kDst, valid * run, "num_valid_indices * num_elem_per_idx");
}

Status ExecuteLocalGather(ExecuteContext& context, const Instr& instr) {
  using namespace local_gather;  // NOLINT
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> src, context.ReadBits(kSrcBuffer));
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> index, context.ReadBits(kIndex));
  const auto partitions = static_cast<size_t>(instr.operand(kSrcBuffer).partitions());
  const size_t width = src.size() / partitions;
  const size_t columns = index.size() / partitions;
  const auto run = static_cast<size_t>(IntOf(instr, kNumElemPerIdx, 1));
  const auto valid = static_cast<size_t>(IntOf(instr, kNumValidIndices, IndicesPerCore(instr)));
  std::vector<uint32_t> dst(partitions * valid * run);
  for (size_t p = 0; p < partitions; ++p) {
    const size_t core = p - p % kCorePartitions;
    for (size_t k = 0; k < valid; ++k) {  // along the partitions first
      const size_t from = core + k % kCorePartitions;
      const size_t at = index[from * columns + k / kCorePartitions];
      if (at + run > width) {
        return IndexOutside(instr, kIndex, from, static_cast<int64_t>(at),
                            static_cast<int64_t>(width));
      }
      std::copy_n(&src[p * width + at], run, &dst[(p * valid + k) * run]);
    }
  }
  context.WriteBits(kDst, dst);
  return {};
}

// nc_n_gather -----------------------------------------------------------------------------------

constexpr Param kNcNGatherParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf},
    {"data", ParamKind::kSrc, nullptr, kInSbuf},
    {"indices", ParamKind::kSrc, nullptr, kInSbuf, Types({DType::kU32})},
    kNameParam,
};

Status CheckNcNGather(const Machine&, const Instr& instr) {
  using namespace nc_n_gather;  // NOLINT
  WT_RETURN_IF_ERROR(CheckNotEmpty(instr, kData));
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kData, kIndices, kDst}));
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kData, kDst));
  return CheckSameSize(instr, kIndices, kDst);
}

Status ExecuteNcNGather(ExecuteContext& context, const Instr& instr) {
  using namespace nc_n_gather;  // NOLINT
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> data, context.ReadBits(kData));
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> indices, context.ReadBits(kIndices));
  const auto partitions = static_cast<size_t>(instr.operand(kData).partitions());
  const size_t width = data.size() / partitions;
  const size_t columns = indices.size() / partitions;
  std::vector<uint32_t> dst(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    const size_t partition = i / columns;
    if (indices[i] >= width) {
      return IndexOutside(instr, kIndices, partition, indices[i], static_cast<int64_t>(width));
    }
    dst[i] = data[partition * width + indices[i]];
  }
  context.WriteBits(kDst, dst);
  return {};
}

}  // namespace
}  // namespace gathers

const InstrDef kLocalGather = {
    .name = "local_gather",
    .summary =
        "Each GpSimd core gathers for its 16 partitions with one list of indices: the "
        "index elements of those partitions, partition by partition and then column by "
        "column, up to num_valid_indices. Every partition reads num_elem_per_idx elements "
        "from each index on; an index outside is refused here and undefined on hardware.",
    .params = gathers::kLocalGatherParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = gathers::CheckLocalGather,
    .execute = gathers::ExecuteLocalGather,
    .cost = cost::LocalGather,
};

const InstrDef kNcNGather = {
    .name = "nc_n_gather",
    .summary =
        "dst[p, i] = data[p, indices[p, i]], free dimensions of data flattened. One "
        "hardware instruction for every 512 elements a partition.",
    .params = gathers::kNcNGatherParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = gathers::CheckNcNGather,
    .execute = gathers::ExecuteNcNGather,
    .cost = cost::NcNGather,
};

}  // namespace wt::chip::isa
