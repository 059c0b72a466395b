// Across partitions: nc_stream_shuffle copies whole partitions within quadrants of 32,
// tensor_partition_reduce folds all of them into one.
#include <algorithm>
#include <cmath>

#include "chip/alu.h"
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/part.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace partition_moves {
namespace {

// nc_stream_shuffle -----------------------------------------------------------------------------

constexpr int64_t kQuadrant = 32;
constexpr int64_t kKeep = 255;

constexpr Param kNcStreamShuffleParams[] = {
    {"dst", ParamKind::kDst},
    {"src", ParamKind::kSrc},
    {"shuffle_mask", ParamKind::kInts},
    kNameParam,
};

// Partition of src that goes to partition `p` of dst; -1: it stays as it is.
int64_t SourceOf(std::span<const int64_t> mask, int64_t p) {
  const int64_t entry = mask[static_cast<size_t>(p % kQuadrant)];
  return entry == kKeep ? -1 : p / kQuadrant * kQuadrant + entry;
}

Status CheckShuffleStart(const Instr& instr, int param, int64_t active) {
  const AccessPattern& pattern = instr.operand(param);
  const auto& address = pattern.tensor->address;
  const int start = pattern.start_partition + (address ? address->partition : 0);
  if (active > 64 ? start == 0 : start % active == 0) return {};
  return KernelError(ErrorClass::kPartitions,
                     "{} starts at partition {}, and the shuffle is active on {} partitions; "
                     "expected a start of {}",
                     OperandName(instr, param), start, active,
                     active > 64   ? "0"
                     : active > 32 ? "0 or 64"
                                   : "0, 32, 64 or 96");
}

Status CheckNcStreamShuffle(const Machine&, const Instr& instr) {
  using namespace nc_stream_shuffle;  // NOLINT
  const std::span<const int64_t> mask = instr.ints_of(kShuffleMask);
  if (static_cast<int64_t>(mask.size()) != kQuadrant) {
    return KernelError(ErrorClass::kArgument,
                       "nc_stream_shuffle: shuffle_mask has {} entries; expected 32, one for each "
                       "partition of a quadrant",
                       mask.size());
  }
  for (int64_t entry : mask) {
    if ((entry >= 0 && entry < kQuadrant) || entry == kKeep) continue;
    return KernelError(ErrorClass::kArgument,
                       "nc_stream_shuffle: shuffle_mask holds {}; expected 0 to 31, or 255 to "
                       "leave a partition as it is",
                       entry);
  }
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kSrc, kDst));
  const int64_t rows = instr.operand(kSrc).partitions();
  const int64_t out = instr.operand(kDst).partitions();
  WT_RETURN_IF_ERROR(
      CheckFreeElements(instr, kDst, instr.operand(kSrc).free_elements(), "as many as src"));
  const int64_t active = (std::max(rows, out) + kQuadrant - 1) / kQuadrant * kQuadrant;
  WT_RETURN_IF_ERROR(CheckShuffleStart(instr, kSrc, active));
  WT_RETURN_IF_ERROR(CheckShuffleStart(instr, kDst, active));
  for (int64_t p = 0; p < out; ++p) {
    if (SourceOf(mask, p) < rows) continue;
    return KernelError(ErrorClass::kOutOfBounds,
                       "nc_stream_shuffle: partition {} of dst copies partition {} of src, which "
                       "has {}; give src more partitions or put 255 into shuffle_mask",
                       p, SourceOf(mask, p), rows);
  }
  return {};
}

Status ExecuteNcStreamShuffle(ExecuteContext& context, const Instr& instr) {
  using namespace nc_stream_shuffle;  // NOLINT
  const std::span<const int64_t> mask = instr.ints_of(kShuffleMask);
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> src, context.ReadBits(kSrc));
  const auto width = static_cast<size_t>(instr.operand(kSrc).free_elements());
  for (int64_t p = 0; p < instr.operand(kDst).partitions(); ++p) {
    const int64_t from = SourceOf(mask, p);
    if (from < 0) continue;
    WriteBits(context, kDst, {.partition = p},
              std::span(src).subspan(static_cast<size_t>(from) * width, width));
  }
  return {};
}

// tensor_partition_reduce -----------------------------------------------------------------------

constexpr Param kTensorPartitionReduceParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, kComputeTypes},
    {"op", ParamKind::kAluOp},
    {"data", ParamKind::kSrc, nullptr, kInSbuf, kComputeTypes},
    kNameParam,
};

Status CheckTensorPartitionReduce(const Machine&, const Instr& instr) {
  using namespace tensor_partition_reduce;  // NOLINT
  WT_RETURN_IF_ERROR(CheckOp(
      instr, kOp,
      {AluOp::kAdd, AluOp::kAverage, AluOp::kMaximum, AluOp::kBitwiseOr, AluOp::kBitwiseAnd}));
  WT_RETURN_IF_ERROR(CheckNotEmpty(instr, kData));
  WT_RETURN_IF_ERROR(CheckPartitions(instr, kDst, 1));
  WT_RETURN_IF_ERROR(
      CheckFreeElements(instr, kDst, instr.operand(kData).free_elements(), "as many as data"));
  if (!IsBitwise(instr.name_of<AluOp>(kOp, AluOp::kAdd))) return {};
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kData, kDst));
  if (IsInteger(instr.operand(kData).dtype)) return {};
  return KernelError(ErrorClass::kDtype, "{} is {}; bitwise operations work on integers",
                     OperandName(instr, kData), DTypeName(instr.operand(kData).dtype));
}

// Column by column, T's arithmetic: fold(a, b) over the partitions.
template <class T, class Fold>
std::vector<T> FoldPartitions(const std::vector<T>& data, size_t width, Fold fold) {
  std::vector<T> out(data.begin(), data.begin() + static_cast<ptrdiff_t>(width));
  for (size_t at = width; at < data.size(); at += width) {
    for (size_t i = 0; i < width; ++i) out[i] = fold(out[i], data[at + i]);
  }
  return out;
}

Status ExecuteTensorPartitionReduce(ExecuteContext& context, const Instr& instr) {
  using namespace tensor_partition_reduce;  // NOLINT
  const auto op = instr.name_of<AluOp>(kOp, AluOp::kAdd);
  const AccessPattern& data = instr.operand(kData);
  const auto width = static_cast<size_t>(data.free_elements());
  if (IsBitwise(op)) {
    WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> bits, context.ReadBits(kData));
    context.WriteBits(kDst, FoldPartitions(bits, width, [&](uint32_t a, uint32_t b) {
                        return op == AluOp::kBitwiseAnd ? a & b : a | b;
                      }));
    return {};
  }
  WT_ASSIGN_OR_RETURN(const std::vector<float> values, context.ReadFloats(kData));
  std::vector<float> out = FoldPartitions(values, width, [&](float a, float b) {
    return op == AluOp::kMaximum ? std::max(a, b) : a + b;
  });
  if (op == AluOp::kAverage) {
    for (float& value : out) value /= static_cast<float>(data.partitions());
  }
  context.WriteFloats(kDst, out);
  return {};
}

}  // namespace
}  // namespace partition_moves

const InstrDef kNcStreamShuffle = {
    .name = "nc_stream_shuffle",
    .summary =
        "Within every quadrant of 32 partitions, partition i of dst becomes partition "
        "shuffle_mask[i] of the same quadrant of src, bit for bit; 255 leaves it as it is. "
        "All of src is read first, so dst may be src.",
    .params = partition_moves::kNcStreamShuffleParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = partition_moves::CheckNcStreamShuffle,
    .execute = partition_moves::ExecuteNcStreamShuffle,
    .cost = cost::NcStreamShuffle,
};

const InstrDef kTensorPartitionReduce = {
    .name = "tensor_partition_reduce",
    .summary =
        "Folds all partitions of data into the one of dst, element by element: sum, average "
        "or maximum in fp32, bitwise or and and on integers.",
    .params = partition_moves::kTensorPartitionReduceParams,
    .engines = {Engine::kGpSimd},
    .default_engine = Engine::kGpSimd,
    .check = partition_moves::CheckTensorPartitionReduce,
    .execute = partition_moves::ExecuteTensorPartitionReduce,
    .cost = cost::TensorPartitionReduce,
};

}  // namespace wt::chip::isa
