// Microscaling (OCP MX) on generation 4: quantize_mx makes blocks of 8-bit floats that share a
// power-of-two scale, nc_matmul_mx multiplies them. A block is 8 partitions of 4 packed elements;
// its scale lies in the quadrant of its partitions: block b of a tile in partition 32 * (b / 4) + b
// % 4 of the scale tile.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/dtype.h"
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/part.h"
#include "chip/isa/psum.h"
#include "chip/isa/rows.h"
#include "tensor/matmul.h"

namespace wt::chip::isa {
namespace mx {
namespace {

constexpr int64_t kBlockPartitions = 8, kPack = 4, kQuadrant = 32;
constexpr int64_t kBlocksPerQuadrant = kQuadrant / kBlockPartitions;
constexpr int kScaleBias = 127, kLeastExponent = -127, kMostExponent = 127;

constexpr DTypeSet kScaleTypes = Types({DType::kF8E8M0, DType::kU8});
constexpr DTypeSet kPackedTypes = Types({DType::kF8E4M3FNx4, DType::kF8E5M2x4, DType::kF4E2M1FNx4});

int64_t ScalePartition(int64_t block) {
  return block / kBlocksPerQuadrant * kQuadrant + block % kBlocksPerQuadrant;
}

// The tile's partitions are whole quadrants and the scale tile holds all its blocks.
Status CheckBlocks(const Instr& instr, int data, int scale, int64_t columns) {
  WT_RETURN_IF_ERROR(CheckPartitionMultiple(instr, data, kQuadrant));
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, scale, columns, "one scale for each packed element"));
  const int64_t blocks = instr.operand(data).partitions() / kBlockPartitions;
  const int64_t needed = ScalePartition(blocks - 1) + 1;
  if (instr.operand(scale).partitions() >= needed) return {};
  return KernelError(ErrorClass::kShape,
                     "{} has {} partitions; expected at least {}: the scales of each quadrant of "
                     "32 partitions lie in that quadrant's first 4",
                     OperandName(instr, scale), instr.operand(scale).partitions(), needed);
}

// quantize_mx -----------------------------------------------------------------------------------

constexpr Param kQuantizeMxParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf, Types({DType::kF8E4M3FNx4, DType::kF8E5M2x4})},
    {"src", ParamKind::kSrc, nullptr, kInSbuf, Types({DType::kF16, DType::kBF16})},
    {.name = "dst_scale",
     .kind = ParamKind::kDst,
     .memories = kInSbuf,
     .dtypes = kScaleTypes,
     .quadrant_offset = true},
    kNameParam,
};

Status CheckQuantizeMx(const Machine&, const Instr& instr) {
  using namespace quantize_mx;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kSrc, kDst}));
  const int64_t elements = instr.operand(kSrc).free_elements();
  if (elements % kPack != 0) {
    return KernelError(ErrorClass::kShape,
                       "{} has {} elements a partition; expected a multiple of 4: they are packed "
                       "by four",
                       OperandName(instr, kSrc), elements);
  }
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, kDst, elements / kPack, "a quarter of src's"));
  return CheckBlocks(instr, kSrc, kDstScale, elements / kPack);
}

// Exponent of a block's scale: one more than OCP's sample algorithm takes, so that rounding up the
// largest element stays finite. `largest` is its magnitude.
int BlockExponent(float largest, int element_exponent) {
  if (largest == 0) return kLeastExponent;
  const int exponent = std::isfinite(largest) ? std::ilogb(largest) : kMostExponent + 1;
  return std::clamp(exponent - (element_exponent - 1), kLeastExponent, kMostExponent);
}

Status ExecuteQuantizeMx(ExecuteContext& context, const Instr& instr) {
  using namespace quantize_mx;  // NOLINT
  WT_ASSIGN_OR_RETURN(const std::vector<float> src, context.ReadFloats(kSrc));
  const bool e4m3 = instr.operand(kDst).dtype == DType::kF8E4M3FNx4;
  const int element_exponent = e4m3 ? 8 : 15;  // of the largest finite element
  const int64_t partitions = instr.operand(kSrc).partitions();
  const int64_t width = instr.operand(kSrc).free_elements();
  const int64_t columns = width / kPack;
  std::vector<uint32_t> packed(static_cast<size_t>(partitions * columns));
  for (int64_t block = 0; block < partitions / kBlockPartitions; ++block) {
    std::vector<uint32_t> scales(static_cast<size_t>(columns));
    for (int64_t c = 0; c < columns; ++c) {
      const auto at = [&](int64_t p, int64_t k) {
        return src[static_cast<size_t>((block * kBlockPartitions + p) * width + c * kPack + k)];
      };
      float largest = 0;
      for (int64_t i = 0; i < kBlockPartitions * kPack; ++i)
        largest = std::max(largest, std::fabs(at(i / kPack, i % kPack)));
      const int exponent = BlockExponent(largest, element_exponent);
      scales[static_cast<size_t>(c)] = static_cast<uint32_t>(exponent + kScaleBias);
      for (int64_t p = 0; p < kBlockPartitions; ++p) {
        uint32_t& word = packed[static_cast<size_t>((block * kBlockPartitions + p) * columns + c)];
        for (int64_t k = 0; k < kPack; ++k) {
          const float scaled = std::ldexp(at(p, k), -exponent);
          const uint32_t bits = e4m3 ? EncodeF8E4M3FN(scaled) : EncodeF8E5M2(scaled);
          word |= bits << (8 * k);
        }
      }
    }
    WriteBits(context, kDstScale, {.partition = ScalePartition(block)}, scales);
  }
  context.WriteBits(kDst, packed);
  return {};
}

// nc_matmul_mx ----------------------------------------------------------------------------------

constexpr Param ScaleParam(const char* name) {
  return {.name = name,
          .kind = ParamKind::kSrc,
          .memories = kInSbuf,
          .dtypes = kScaleTypes,
          .partial = true,
          .quadrant_offset = true};
}

constexpr Param kNcMatmulMxParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInPsum, Types({DType::kF32, DType::kBF16})},
    {"stationary", ParamKind::kSrc, nullptr, kInSbuf, kPackedTypes},
    {"moving", ParamKind::kSrc, nullptr, kInSbuf, kPackedTypes},
    ScaleParam("stationary_scale"),
    ScaleParam("moving_scale"),
    {"tile_position", ParamKind::kInts, "None"},
    {"tile_size", ParamKind::kInts, "None"},
    {"accumulate", ParamKind::kBool, "None"},
    kNameParam,
};

constexpr int64_t kMostStationary = 128, kMostMovingF32 = 4096, kMostMovingBF16 = 8192;

Status CheckTile(const Instr& instr) {
  using namespace nc_matmul_mx;  // NOLINT
  const bool tiled = instr.has(kTileSize) && !instr.ints_of(kTileSize).empty();
  const bool placed = instr.has(kTilePosition) && !instr.ints_of(kTilePosition).empty();
  if (!tiled && !placed) return {};
  if (tiled != placed) {
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul_mx: only one of tile_position and tile_size is given; expected "
                       "both or neither");
  }
  const std::span<const int64_t> size = instr.ints_of(kTileSize);
  const std::span<const int64_t> position = instr.ints_of(kTilePosition);
  const bool legal = size.size() == 2 && position.size() == 2 && size[1] == 128 &&
                     (size[0] == 32 || size[0] == 64 || size[0] == 128) && position[1] == 0 &&
                     position[0] >= 0 && position[0] % size[0] == 0 && position[0] < 128;
  if (!legal) {
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul_mx: tile_position ({}), tile_size ({}); expected sizes (32, 64 "
                       "or 128, 128) and a position (multiple of the rows under 128, 0)",
                       fmt::join(position, ", "), fmt::join(size, ", "));
  }
  if (instr.operand(kStationary).partitions() <= size[0]) return {};
  return KernelError(ErrorClass::kShape, "{} has {} partitions, the tile {} rows; expected to fit",
                     OperandName(instr, kStationary), instr.operand(kStationary).partitions(),
                     size[0]);
}

Status CheckNcMatmulMx(const Machine&, const Instr& instr) {
  using namespace nc_matmul_mx;  // NOLINT
  const int64_t columns = instr.operand(kStationary).free_elements();
  const int64_t moving = instr.operand(kMoving).free_elements();
  WT_RETURN_IF_ERROR(CheckSamePartitions(instr, {kStationary, kMoving}));
  WT_RETURN_IF_ERROR(CheckBlocks(instr, kStationary, kStationaryScale, columns));
  WT_RETURN_IF_ERROR(CheckBlocks(instr, kMoving, kMovingScale, moving));
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, kStationary, 2, kMostStationary));
  if (columns % 2 != 0) {
    return KernelError(ErrorClass::kShape, "{} has {} columns; expected an even number",
                       OperandName(instr, kStationary), columns);
  }
  const bool bf16 = instr.operand(kDst).dtype == DType::kBF16;
  WT_RETURN_IF_ERROR(CheckFreeRange(instr, kMoving, 1, bf16 ? kMostMovingBF16 : kMostMovingF32));
  WT_RETURN_IF_ERROR(CheckPartitions(instr, kDst, columns));
  WT_RETURN_IF_ERROR(CheckFreeElements(instr, kDst, moving, "as many as moving's columns"));
  return CheckTile(instr);
}

float DecodeF4E2M1(uint32_t bits) {
  constexpr std::array<float, 8> kMagnitudes = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

float Unpack(DType dtype, uint32_t word, int64_t k) {
  if (dtype == DType::kF4E2M1FNx4) return DecodeF4E2M1(word >> (4 * k) & 15);
  const auto bits = static_cast<uint8_t>(word >> (8 * k));
  return dtype == DType::kF8E4M3FNx4 ? DecodeF8E4M3FN(bits) : DecodeF8E5M2(bits);
}

// [partitions * 4, columns], scaled. All products of a contraction have rows of one kind.
Result<std::vector<float>> Dequantize(ExecuteContext& context, int data, int scale) {
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> words, context.ReadBits(data));
  const AccessPattern& pattern = context.instr().operand(data);
  const int64_t columns = pattern.free_elements();
  std::vector<float> values(words.size() * kPack);
  for (int64_t block = 0; block < pattern.partitions() / kBlockPartitions; ++block) {
    WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> exponents,
                        ReadBits(context, scale, {.partition = ScalePartition(block)}));
    for (int64_t p = block * kBlockPartitions; p < (block + 1) * kBlockPartitions; ++p) {
      for (int64_t k = 0; k < kPack; ++k) {
        float* row = &values[static_cast<size_t>((p * kPack + k) * columns)];
        for (int64_t c = 0; c < columns; ++c) {
          const uint32_t word = words[static_cast<size_t>(p * columns + c)];
          row[c] = Unpack(pattern.dtype, word, k) *
                   DecodeF8E8M0(static_cast<uint8_t>(exponents[static_cast<size_t>(c)]));
        }
      }
    }
  }
  return values;
}

Status ExecuteNcMatmulMx(ExecuteContext& context, const Instr& instr) {
  using namespace nc_matmul_mx;  // NOLINT
  WT_ASSIGN_OR_RETURN(const bool accumulate, PsumAccumulates(context, kDst, kAccumulate));
  WT_ASSIGN_OR_RETURN(const std::vector<float> stationary,
                      Dequantize(context, kStationary, kStationaryScale));
  WT_ASSIGN_OR_RETURN(const std::vector<float> moving, Dequantize(context, kMoving, kMovingScale));
  const int64_t rows = instr.operand(kStationary).partitions() * kPack;
  const Walk& to = context.walk(kDst);
  const int64_t m = to.rows(), n = to.row_elements();
  std::vector<float> product(static_cast<size_t>(m * n));
  if (accumulate) {
    WT_ASSIGN_OR_RETURN(product, context.ReadFloats(kDst));
  }
  const tensor::ConstMatrix a = {stationary.data(), DType::kF32, rows, m, m, 1};
  const tensor::ConstMatrix b = {moving.data(), DType::kF32, rows, n, n, 1};
  tensor::MatMul(a.Transposed(), b, {product.data(), DType::kF32, m, n, n}, accumulate);
  context.WriteFloats(kDst, product);
  MarkWritten(to, Writer::kMatmul);
  return {};
}

}  // namespace
}  // namespace mx

const InstrDef kQuantizeMx = {
    .name = "quantize_mx",
    .summary =
        "Quantises fp16 or bf16 to MXFP8: every block of 8 partitions and 4 neighbouring elements "
        "gets the scale 2^(floor(log2 of its largest magnitude) - E + 1), E the exponent of the "
        "largest element (8 for e4m3fn, 15 for e5m2), 2^-127 for a block of zeros, and its "
        "elements divided by it, rounded and packed by four. The scales of a quadrant go to its "
        "first four partitions of dst_scale.",
    .params = mx::kQuantizeMxParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .since = Generation::kGen4,
    .check = mx::CheckQuantizeMx,
    .execute = mx::ExecuteQuantizeMx,
    .cost = cost::QuantizeMx,
};

const InstrDef kNcMatmulMx = {
    .name = "nc_matmul_mx",
    .summary =
        "dst[m, n] = the sum over partitions and the four elements of each pack of "
        "stationary times moving, both scaled by the power of two of their block; fp32 "
        "inside, written or accumulated as fp32 or bf16. Data are packed MXFP8 or MXFP4, "
        "scales laid out as quantize_mx writes them.",
    .params = mx::kNcMatmulMxParams,
    .engines = {Engine::kTensor},
    .default_engine = Engine::kTensor,
    .since = Generation::kGen4,
    .check = mx::CheckNcMatmulMx,
    .execute = mx::ExecuteNcMatmulMx,
    .cost = cost::NcMatmulMx,
};

}  // namespace wt::chip::isa
