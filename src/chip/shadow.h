// Which bytes of a memory have been written, exactly, and (PSUM) which of them by a matmul that a
// later one may add to. One bit a byte, kept only until a tensor is written as a whole.
#pragma once

#include <optional>
#include <vector>

#include "chip/access_pattern.h"

namespace wt::chip {

// A bit for every byte of [rows, row_bytes].
class ByteMap {
 public:
  ByteMap(int64_t rows, int64_t row_bytes);

  bool all() const { return unset_ == 0; }
  bool none() const { return unset_ == total_; }
  void SetAll();
  void ClearAll();
  // Bytes [begin, end) of a row.
  void Set(int64_t row, int64_t begin, int64_t end) { Change(row, begin, end, true); }
  void Clear(int64_t row, int64_t begin, int64_t end) { Change(row, begin, end, false); }
  // The same bits in each of `rows` rows; `mask` covers words [word, word + mask.size()) of a row.
  void Apply(int64_t row, int64_t rows, int64_t word, const std::vector<uint64_t>& mask, bool set);
  // First byte of [begin, end) whose bit is not `set`; `end` when there is none.
  int64_t FirstOther(int64_t row, int64_t begin, int64_t end, bool set) const;

 private:
  void Materialize();
  void Change(int64_t row, int64_t begin, int64_t end, bool set);
  void ChangeWord(uint64_t& word, uint64_t mask, bool set);

  int64_t rows_, row_bytes_, row_words_;
  int64_t total_, unset_;
  std::vector<uint64_t> bits_;  // empty while all bits are alike
};

struct Shadow {
  Shadow(Memory memory, int64_t rows, int64_t row_bytes)
      : is_psum(memory == Memory::kPsum), written(rows, row_bytes), matmul(rows, row_bytes) {}

  bool is_psum;
  ByteMap written;
  ByteMap matmul;  // PSUM: written by a matmul, and by nothing else since
};

// For patterns whose dynamic offsets have been applied. All require tensor->shadow.

enum class Writer : uint8_t { kEngine, kMatmul };
void MarkWritten(const AccessPattern& pattern, Writer writer = Writer::kEngine);

struct BytePlace {
  int64_t partition = 0;
  int64_t byte = 0;  // within the partition
};
// The first byte of the walk that nothing wrote.
std::optional<BytePlace> FirstUnwritten(const AccessPattern& pattern);

// Who wrote the bytes of a PSUM operand.
enum class PsumState : uint8_t { kUnwritten, kMatmul, kOther, kMixed };
PsumState PsumStateOf(const AccessPattern& pattern);

}  // namespace wt::chip
