#include "chip/shadow.h"

#include <algorithm>
#include <bit>

namespace wt::chip {

ByteMap::ByteMap(int64_t rows, int64_t row_bytes)
    : rows_(rows),
      row_bytes_(row_bytes),
      row_words_((row_bytes + 63) / 64),
      total_(rows * row_bytes),
      unset_(total_) {}

void ByteMap::SetAll() {
  bits_.clear();
  unset_ = 0;
}

void ByteMap::ClearAll() {
  bits_.clear();
  unset_ = total_;
}

void ByteMap::Materialize() {
  if (bits_.empty()) bits_.assign(static_cast<size_t>(rows_ * row_words_), all() ? ~0ull : 0ull);
}

void ByteMap::ChangeWord(uint64_t& word, uint64_t mask, bool set) {
  const uint64_t changed = set ? mask & ~word : mask & word;
  word ^= changed;
  unset_ += set ? -std::popcount(changed) : std::popcount(changed);
}

namespace {

// Bits of word `word` of a row that belong to bytes [begin, end).
uint64_t RangeMask(int64_t word, int64_t begin, int64_t end) {
  const int64_t first = std::max<int64_t>(begin - word * 64, 0);
  const int64_t last = std::min<int64_t>(end - word * 64, 64);
  if (first >= last) return 0;
  const uint64_t up_to_last = last == 64 ? ~0ull : (1ull << last) - 1;
  return up_to_last & ~((1ull << first) - 1);
}

}  // namespace

void ByteMap::Change(int64_t row, int64_t begin, int64_t end, bool set) {
  if (begin >= end || (set ? all() : none())) return;
  Materialize();
  uint64_t* words = &bits_[static_cast<size_t>(row * row_words_)];
  for (int64_t word = begin / 64; word * 64 < end; ++word)
    ChangeWord(words[word], RangeMask(word, begin, end), set);
  if (all() || none()) bits_.clear();
}

void ByteMap::Apply(int64_t row, int64_t rows, int64_t word, const std::vector<uint64_t>& mask,
                    bool set) {
  if (set ? all() : none()) return;
  Materialize();
  for (int64_t r = row; r < row + rows; ++r) {
    uint64_t* words = &bits_[static_cast<size_t>(r * row_words_ + word)];
    for (size_t i = 0; i < mask.size(); ++i) ChangeWord(words[i], mask[i], set);
  }
  if (all() || none()) bits_.clear();
}

int64_t ByteMap::FirstOther(int64_t row, int64_t begin, int64_t end, bool set) const {
  if (begin >= end || (set ? all() : none())) return end;
  if (bits_.empty()) return begin;
  const uint64_t* words = &bits_[static_cast<size_t>(row * row_words_)];
  for (int64_t word = begin / 64; word * 64 < end; ++word) {
    const uint64_t found = (set ? ~words[word] : words[word]) & RangeMask(word, begin, end);
    if (found) return word * 64 + std::countr_zero(found);
  }
  return end;
}

namespace {

// A pattern as rows of the shadow: the same runs of bytes in rows [row, row + rows).
struct Rows {
  int64_t row = 0, rows = 1;
  int64_t first_byte = 0;  // of the tensor within a row of the shadow
};

// Whose rows: those of the memory that the tensor lies in, or of the tensor alone (own_shadow).
enum class Of : uint8_t { kMemory, kTensor };

Rows RowsOf(const AccessPattern& pattern, Of of) {
  Rows place;
  if (!pattern.on_chip()) return place;
  const Tensor& tensor = *pattern.tensor;
  const bool shared = tensor.address && of == Of::kMemory;
  place.row = pattern.start_partition + (shared ? tensor.address->partition : 0);
  place.rows = pattern.dims[0].step == 0 ? 1 : pattern.dims[0].size;
  place.first_byte = shared ? tensor.address->byte : 0;
  return place;
}

// Calls fn(begin, end) for the runs of bytes of one row; HBM: of the whole walk. Stops on false.
template <class Fn>
bool ForByteRuns(const AccessPattern& pattern, int first_dim, int64_t element, const Fn& fn) {
  const int64_t bytes = DTypeBytes(pattern.dtype);
  if (first_dim == pattern.num_dims) return fn(element * bytes, (element + 1) * bytes);
  const Dim& dim = pattern.dims[static_cast<size_t>(first_dim)];
  if (first_dim == pattern.num_dims - 1 && dim.step == 1)
    return fn(element * bytes, (element + dim.size) * bytes);
  for (int64_t i = 0; i < dim.size; ++i) {
    if (!ForByteRuns(pattern, first_dim + 1, element + i * dim.step, fn)) return false;
    if (dim.step == 0) break;
  }
  return true;
}

template <class Fn>
bool ForByteRuns(const AccessPattern& merged, const Fn& fn) {
  return ForByteRuns(merged, merged.on_chip() ? 1 : 0, merged.offset, fn);
}

// A dense walk over every byte of a tensor that shares none with others.
bool CoversTensor(const AccessPattern& merged) {
  const Tensor& tensor = *merged.tensor;
  const bool dense = merged.num_dims == 1 || (merged.num_dims == 2 && merged.dims[1].step == 1);
  const int64_t next_row = merged.on_chip() ? 1 : merged.free_elements();
  return dense && !tensor.address && merged.dims[0].step == next_row &&
         merged.bytes() == tensor.partitions * tensor.partition_bytes;
}

// The runs of one row as a mask of bits.
struct Mask {
  int64_t word = 0;
  std::vector<uint64_t> bits;
};

Mask MaskOf(const AccessPattern& merged, int64_t first_byte) {
  auto [begin, end] = merged.ByteRange();
  begin += first_byte;
  end += first_byte;
  Mask mask{begin / 64, {}};
  mask.bits.assign(static_cast<size_t>((end + 63) / 64 - begin / 64), 0);
  ForByteRuns(merged, [&](int64_t from, int64_t to) {
    from += first_byte;
    to += first_byte;
    for (int64_t word = from / 64; word * 64 < to; ++word)
      mask.bits[static_cast<size_t>(word - mask.word)] |= RangeMask(word, from, to);
    return true;
  });
  return mask;
}

void ChangeMap(ByteMap& map, const AccessPattern& pattern, bool set, Of of = Of::kMemory) {
  if (set ? map.all() : map.none()) return;
  const AccessPattern merged = pattern.Merged();
  if (CoversTensor(merged)) return set ? map.SetAll() : map.ClearAll();
  const Rows place = RowsOf(merged, of);
  if (merged.on_chip()) {
    const Mask mask = MaskOf(merged, place.first_byte);
    map.Apply(place.row, place.rows, mask.word, mask.bits, set);
  } else {
    ForByteRuns(merged, [&](int64_t begin, int64_t end) {
      set ? map.Set(0, begin, end) : map.Clear(0, begin, end);
      return true;
    });
  }
}

// The first byte of the walk whose bit is not `set`.
std::optional<BytePlace> FirstOther(const ByteMap& map, const AccessPattern& pattern, bool set,
                                    Of of = Of::kMemory) {
  if ((set ? map.all() : map.none()) || pattern.elements() == 0) return std::nullopt;
  const AccessPattern merged = pattern.Merged();
  const Rows place = RowsOf(merged, of);
  std::optional<BytePlace> found;
  for (int64_t r = 0; r < place.rows && !found; ++r) {
    ForByteRuns(merged, [&](int64_t begin, int64_t end) {
      end += place.first_byte;
      const int64_t at = map.FirstOther(place.row + r, begin + place.first_byte, end, set);
      if (at == end) return true;
      found = BytePlace{merged.start_partition + r, at - place.first_byte};
      return false;
    });
  }
  return found;
}

}  // namespace

void MarkWritten(const AccessPattern& pattern, Writer writer) {
  if (pattern.elements() == 0) return;
  Shadow& shadow = *pattern.tensor->shadow;
  ChangeMap(shadow.written, pattern, true);
  if (!shadow.is_psum) return;
  const bool matmul = writer == Writer::kMatmul;
  Shadow* own = pattern.tensor->own_shadow;
  if (!own) return ChangeMap(shadow.matmul, pattern, matmul);
  ChangeMap(own->written, pattern, true, Of::kTensor);
  ChangeMap(own->matmul, pattern, matmul, Of::kTensor);
}

std::optional<BytePlace> FirstUnwritten(const AccessPattern& pattern) {
  return FirstOther(pattern.tensor->shadow->written, pattern, true);
}

PsumState PsumStateOf(const AccessPattern& pattern) {
  const Tensor& tensor = *pattern.tensor;
  const Of of = tensor.own_shadow ? Of::kTensor : Of::kMemory;
  const Shadow& shadow = tensor.own_shadow ? *tensor.own_shadow : *tensor.shadow;
  if (!FirstOther(shadow.matmul, pattern, true, of)) return PsumState::kMatmul;
  if (!FirstOther(shadow.written, pattern, false, of)) return PsumState::kUnwritten;
  const bool some_matmul = FirstOther(shadow.matmul, pattern, false, of).has_value();
  const bool some_unwritten = FirstOther(shadow.written, pattern, true, of).has_value();
  return some_matmul || some_unwritten ? PsumState::kMixed : PsumState::kOther;
}

}  // namespace wt::chip
