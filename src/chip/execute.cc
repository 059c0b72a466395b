#include "chip/execute.h"

#include "chip/convert.h"
#include "chip/error_class.h"
#include "chip/legality.h"

namespace wt::chip {

ExecuteState::ExecuteState(uint64_t seed) {
  // Any fixed rule does: no document gives the generators' first state.
  for (uint32_t lane = 0; lane < gpsimd_random.size(); ++lane)
    gpsimd_random[lane] = SeedXorwow(seed, lane);
  SeedVectorGenerator(seed);
}

void ExecuteState::SeedVectorGenerator(uint64_t seed) {
  for (uint32_t lane = 0; lane < vector_random.size(); ++lane) {
    vector_random[lane] = SeedXorshift32(seed, lane);
    for (uint32_t k = 0; k < 4; ++k) vector_xorwow[lane][k] = SeedXorwow(seed, (k + 1) << 8 | lane);
  }
}

std::string ExecuteContext::OperandName(int param) const {
  return chip::OperandName(instr_, param);
}

namespace {

OobMode OobModeOf(const Instr& instr) {
  for (size_t i = 0; i < instr.def->params.size(); ++i) {
    if (instr.def->params[i].kind == ParamKind::kOobMode && instr.args[i].given())
      return static_cast<OobMode>(instr.args[i].i);
  }
  return OobMode::kError;
}

// The name of the parameter that operand number `operand` was given to.
std::string NameOf(const Instr& instr, int64_t operand) {
  for (size_t i = 0; i < instr.def->params.size(); ++i) {
    const Arg& arg = instr.args[i];
    const int64_t count = arg.kind == Arg::kOperand    ? 1
                          : arg.kind == Arg::kOperands ? arg.count
                                                       : 0;
    if (operand >= arg.i && operand < arg.i + count) return OperandName(instr, static_cast<int>(i));
  }
  return fmt::format("{}: offset", instr.def->name);
}

bool IsPartial(const Instr& instr, int64_t operand) {
  for (size_t i = 0; i < instr.def->params.size(); ++i) {
    if (instr.args[i].kind == Arg::kOperand && instr.args[i].i == operand)
      return instr.def->params[i].partial;
  }
  return false;
}

// One row of a walk as a pattern of its own.
AccessPattern RowPattern(const Walk& walk, int64_t p) {
  AccessPattern row = walk.pattern;
  if (!walk.row_offsets.empty()) {
    row.offset = walk.row_offsets[static_cast<size_t>(p)];
  } else if (row.on_chip()) {
    row.start_partition += static_cast<int32_t>(p * row.dims[0].step);
  } else {
    row.offset += p * row.dims[0].step;
  }
  row.dims[0] = {1, 1};
  return row;
}

// Partition by partition first: the order in which rows take their offsets.
std::vector<int64_t> IndicesOf(const Walk& walk) {
  const int64_t rows = walk.rows(), columns = walk.row_elements();
  std::vector<int64_t> indices(static_cast<size_t>(rows * columns));
  std::vector<int64_t> row(static_cast<size_t>(columns));
  for (int64_t p = 0; p < rows; ++p) {
    int64_t* to = row.data();
    ForRuns(walk.pattern, walk.Row(p), [&](std::byte* start, int64_t step, int64_t n) {
      LoadInts(walk.pattern.dtype, start, step, n, to);
      to += n;
    });
    for (int64_t c = 0; c < columns; ++c)
      indices[static_cast<size_t>(c * rows + p)] = row[static_cast<size_t>(c)];
  }
  return indices;
}

Status CheckWritten(const AccessPattern& pattern, const std::string& name) {
  const std::optional<BytePlace> place = FirstUnwritten(pattern);
  if (!place) return {};
  const int64_t bytes = DTypeBytes(pattern.dtype);
  const std::string where = pattern.on_chip() ? fmt::format("partition {}, element {}",
                                                            place->partition, place->byte / bytes)
                                              : fmt::format("element {}", place->byte / bytes);
  return KernelError(ErrorClass::kUninitialized,
                     "{} reads {} of {}, which nothing has written; write it first", name, where,
                     Describe(pattern));
}

}  // namespace

Status ExecuteContext::Prepare() {
  walks_.resize(instr_.operands.size());
  for (size_t i = 0; i < walks_.size(); ++i) {
    walks_[i].pattern = instr_.operands[i].Merged();
    walks_[i].row_offsets.clear();
    walks_[i].skipped = false;
  }
  for (const Dynamic& dynamic : instr_.dynamics) {
    const size_t index = static_cast<size_t>(dynamic.index_operand);
    if (core_.options().check_uninitialized)
      WT_RETURN_IF_ERROR(CheckWritten(walks_[index].pattern,
                                      NameOf(instr_, dynamic.operand) + "'s dynamic offset"));
    WT_RETURN_IF_ERROR(ApplyDynamic(dynamic));
  }
  state().scratch.Reset();
  return core_.options().check_uninitialized ? CheckReads() : Status();
}

namespace {

// offset + index * unit; beyond every memory when that is too large for a number.
int64_t Moved(int64_t offset, int64_t index, int64_t unit) {
  constexpr double kMost = 0x1p50;
  const double moved =
      static_cast<double>(offset) + static_cast<double>(index) * static_cast<double>(unit);
  if (moved > kMost) return static_cast<int64_t>(kMost);
  if (moved < -kMost) return static_cast<int64_t>(-kMost);
  return offset + index * unit;
}

}  // namespace

Status ExecuteContext::ApplyDynamic(const Dynamic& dynamic) {
  Walk& walk = walks_[static_cast<size_t>(dynamic.operand)];
  const std::string name = NameOf(instr_, dynamic.operand);
  const bool skip = OobModeOf(instr_) == OobMode::kSkip;
  const std::vector<int64_t> indices =
      IndicesOf(walks_[static_cast<size_t>(dynamic.index_operand)]);
  if (!dynamic.vector) {
    walk.pattern.offset = Moved(walk.pattern.offset, indices[0], dynamic.unit);
    const Status inside = CheckBounds(walk.pattern, name);
    walk.skipped = !inside.ok();
    return skip ? Status() : inside;
  }
  if (static_cast<int64_t>(indices.size()) < walk.rows())
    return KernelError(ErrorClass::kShape,
                       "{} has {} rows and {} dynamic offsets; expected one a row", name,
                       walk.rows(), indices.size());
  walk.row_offsets.resize(static_cast<size_t>(walk.rows()));
  for (int64_t p = 0; p < walk.rows(); ++p) {
    int64_t& offset = walk.row_offsets[static_cast<size_t>(p)];
    offset = Moved(walk.pattern.offset, indices[static_cast<size_t>(p)], dynamic.unit);
    const Status inside = CheckBounds(
        RowPattern(walk, p),
        fmt::format("{} with offset {} in row {}", name, indices[static_cast<size_t>(p)], p));
    if (inside.ok()) continue;
    if (!skip) return inside;
    offset = Walk::kSkip;
  }
  return {};
}

Status ExecuteContext::CheckReads() const {
  for (size_t i = 0; i < walks_.size(); ++i) {
    const Walk& walk = walks_[i];
    if (instr_.roles[i] != Role::kRead && instr_.roles[i] != Role::kReadWrite) continue;
    if (walk.skipped || walk.pattern.tensor->shadow->written.all()) continue;
    if (IsPartial(instr_, static_cast<int64_t>(i))) continue;
    const std::string name = NameOf(instr_, static_cast<int64_t>(i));
    if (walk.row_offsets.empty()) {
      WT_RETURN_IF_ERROR(CheckWritten(walk.pattern, name));
      continue;
    }
    for (int64_t p = 0; p < walk.rows(); ++p) {
      if (walk.Row(p)) WT_RETURN_IF_ERROR(CheckWritten(RowPattern(walk, p), name));
    }
  }
  return {};
}

Status ExecuteContext::CheckPartWritten(const Walk& part, int param) const {
  if (!core_.options().check_uninitialized) return {};
  return CheckWritten(part.pattern, OperandName(param));
}

void MarkWritten(const Walk& walk, Writer writer) {
  if (walk.skipped) return;
  if (walk.row_offsets.empty()) return MarkWritten(walk.pattern, writer);
  for (int64_t p = 0; p < walk.rows(); ++p) {
    if (walk.Row(p)) MarkWritten(RowPattern(walk, p), writer);
  }
}

void MarkWrittenWhereRead(const Walk& walk, const Walk& source) {
  if (source.row_offsets.empty()) return MarkWritten(walk);
  for (int64_t p = 0; p < walk.rows(); ++p) {
    if (walk.Row(p) && source.Row(p)) MarkWritten(RowPattern(walk, p));
  }
}

namespace {

// Bytes [begin, end) that a walk touches, from the lowest address to the highest.
std::pair<const std::byte*, const std::byte*> Extent(const Walk& walk) {
  const AccessPattern& pattern = walk.pattern;
  const Tensor& tensor = *pattern.tensor;
  if (!pattern.on_chip()) return {tensor.data, tensor.data + tensor.partition_bytes};
  const auto [begin, end] = pattern.ByteRange();
  const int64_t last = pattern.dims[0].step * (pattern.dims[0].size - 1);
  const std::byte* first_row = tensor.data + pattern.start_partition * tensor.data_stride;
  return {first_row + begin, first_row + last * tensor.data_stride + end};
}

bool SameWalk(const AccessPattern& a, const AccessPattern& b) {
  if (a.offset * DTypeBytes(a.dtype) != b.offset * DTypeBytes(b.dtype) ||
      a.num_dims != b.num_dims || DTypeBytes(a.dtype) != DTypeBytes(b.dtype))
    return false;
  for (size_t i = 1; i < size_t(a.num_dims); ++i) {
    if (a.dims[i].step != b.dims[i].step || a.dims[i].size != b.dims[i].size) return false;
  }
  return true;
}

Overlap Meeting(const Walk& read, const Walk& write) {
  const auto [read_begin, read_end] = Extent(read);
  const auto [write_begin, write_end] = Extent(write);
  if (read_end <= write_begin || write_end <= read_begin) return Overlap::kNone;
  const AccessPattern& a = read.pattern;
  const AccessPattern& b = write.pattern;
  const bool same_rows = a.on_chip() && b.on_chip() && a.tensor == b.tensor &&
                         a.start_partition == b.start_partition && a.dims[0].step == 1 &&
                         b.dims[0].step == 1;
  if (!same_rows) return Overlap::kOther;
  return SameWalk(a, b) ? Overlap::kSame : Overlap::kRow;
}

}  // namespace

Overlap ExecuteContext::OverlapOf(int param) const {
  const size_t operand = static_cast<size_t>(index(param));
  Overlap worst = Overlap::kNone;
  for (size_t i = 0; i < walks_.size(); ++i) {
    if (i == operand || (instr_.roles[i] != Role::kWrite && instr_.roles[i] != Role::kReadWrite))
      continue;
    worst = std::max(worst, Meeting(walks_[operand], walks_[i]));
  }
  return worst;
}

FloatReader ExecuteContext::Floats(int param) {
  return FloatReader(walk(param), OverlapOf(param), state().scratch);
}

WordReader ExecuteContext::Words(int param) {
  return WordReader(walk(param), OverlapOf(param), state().scratch);
}

WordWriter ExecuteContext::WordsOut(int param) {
  MarkWritten(walk(param));
  return WordWriter(walk(param), state().scratch);
}

FloatWriter ExecuteContext::FloatsOut(int param) {
  MarkWritten(walk(param));
  return FloatWriter(walk(param), state().scratch);
}

namespace {

template <class T, class Load>
std::vector<T> ReadAll(const Walk& walk, const Load& load) {
  std::vector<T> values(static_cast<size_t>(walk.rows() * walk.row_elements()));
  T* to = values.data();
  for (int64_t p = 0; p < walk.rows() && !values.empty(); ++p) {
    std::byte* row = walk.skipped ? nullptr : walk.Row(p);
    if (row == nullptr) {
      to += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      load(walk.pattern.dtype, start, step, n, to);
      to += n;
    });
  }
  return values;
}

template <class T, class Store>
void WriteAll(const Walk& walk, std::span<const T> values, const Store& store) {
  const T* from = values.data();
  for (int64_t p = 0; p < walk.rows() && !values.empty() && !walk.skipped; ++p) {
    std::byte* row = walk.Row(p);
    if (row == nullptr) {
      from += walk.row_elements();
      continue;
    }
    ForRuns(walk.pattern, row, [&](std::byte* start, int64_t step, int64_t n) {
      store(walk.pattern.dtype, start, step, n, from);
      from += n;
    });
  }
  MarkWritten(walk);
}

}  // namespace

Result<std::vector<float>> ExecuteContext::ReadFloats(int param) {
  return ReadAll<float>(walk(param), LoadFloats);
}
Result<std::vector<int64_t>> ExecuteContext::ReadInts(int param) {
  return ReadAll<int64_t>(walk(param), LoadInts);
}
Result<std::vector<uint32_t>> ExecuteContext::ReadBits(int param) {
  return ReadAll<uint32_t>(walk(param), LoadBits);
}

void ExecuteContext::WriteFloats(int param, std::span<const float> values) {
  WriteAll(walk(param), values, StoreFloats);
}
void ExecuteContext::WriteInts(int param, std::span<const int64_t> values) {
  WriteAll(walk(param), values, StoreInts);
}
void ExecuteContext::WriteBits(int param, std::span<const uint32_t> values) {
  WriteAll(walk(param), values, StoreBits);
}

void ExecuteContext::WriteColumn(int param, const float* values) {
  FloatWriter out = FloatsOut(param);
  for (int64_t p = 0; p < walk(param).rows(); ++p) {
    out.Row(p)[0] = values[p];
    out.Done(p);
  }
}

const float* ExecuteContext::Scalars(int param, int64_t partitions) {
  float* values = state().scratch.Floats(partitions);
  const Arg& arg = instr_.args[static_cast<size_t>(param)];
  if (arg.kind != Arg::kOperand) {
    std::fill_n(values, partitions, static_cast<float>(arg.number()));
  } else {
    for (int64_t p = 0; p < partitions; ++p) LoadRow(walk(param), p, values + p);
  }
  return values;
}

Result<std::vector<float>> ExecuteContext::ReadScalars(int param, int64_t partitions) {
  const float* values = Scalars(param, partitions);
  return std::vector<float>(values, values + partitions);
}

}  // namespace wt::chip
