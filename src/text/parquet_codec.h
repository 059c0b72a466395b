// Decompression and the run-length/bit-packed integers of Parquet pages: between the raw bytes of a
// page and its values.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/parquet_format.h"

struct ZSTD_DCtx_s;

namespace wt::text::parquet {

// No page of text is larger; a header that claims more is damage (or hostile).
inline constexpr int64_t kMaxPageBytes = int64_t{1} << 30;

// Nor has it more values: runs make a claim of billions cost a few bytes.
inline constexpr int64_t kMaxPageValues = int64_t{1} << 26;

// Bytes that stay where they are until the next Reserve. Not zeroed: a page that lies about its
// size then costs address space, not memory.
class PageBuffer {
 public:
  char* Reserve(size_t bytes);

 private:
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  // Exactly `bytes` bytes of decompressed `input`, in `buffer`, or `input` itself for kNone.
  // Fails when the codec is not supported, the input is broken or its size differs.
  Result<std::string_view> Decompress(Codec codec, std::string_view input, int64_t bytes,
                                      PageBuffer* buffer);

 private:
  Status Zstd(std::string_view input, char* out, size_t bytes);
  std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s*)> zstd_;
};

// Unsigned integers of `bit_width` (0 to 32) bits in runs: repeated, or packed in groups of eight.
class RunDecoder {
 public:
  RunDecoder() = default;
  RunDecoder(std::string_view bytes, int bit_width) : bytes_(bytes), bit_width_(bit_width) {}
  // False when the bytes end, or are not runs, before the next value.
  bool Next(uint32_t* value);

 private:
  bool StartRun();
  bool NextPacked(uint32_t* value);

  std::string_view bytes_;
  int bit_width_ = 0;
  uint64_t repeats_ = 0;  // left in the current run of one value
  uint64_t packed_ = 0;   // left in the current run of packed values
  uint32_t value_ = 0;
  std::string_view run_;  // the packed run's bytes
  uint64_t bit_ = 0;
};

// Decodes the DELTA_BINARY_PACKED integers at the start of `bytes`, which must be exactly `count`
// numbers in [0, 2^31), and removes them from `bytes`.
Status TakeDeltaLengths(std::string_view* bytes, int64_t count, std::vector<uint32_t>* lengths);

}  // namespace wt::text::parquet
