#include "text/parquet_codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace wt::text::parquet {
namespace {

Status SizeError(int64_t expected, uint64_t found) {
  return Error(Code::kCorrupt, "decompresses to {} bytes, its header says {}", found, expected);
}

Status Snappy(std::string_view input, char* out, size_t bytes) {
  size_t length = 0;
  if (!snappy::GetUncompressedLength(input.data(), input.size(), &length))
    return Error(Code::kCorrupt, "is not Snappy data");
  if (length != bytes) return SizeError(static_cast<int64_t>(bytes), length);
  if (!snappy::RawUncompress(input.data(), input.size(), out))
    return Error(Code::kCorrupt, "has damaged Snappy data");
  return {};
}

Status Gzip(std::string_view input, char* out, size_t bytes) {
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // only read from
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(bytes);
  constexpr int kGzipOrZlib = 32 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK)
    return Error(Code::kCapacity, "cannot be decompressed: zlib is out of memory");
  const int code = inflate(&stream, Z_FINISH);
  const uint64_t found = stream.total_out;
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return Error(Code::kCorrupt, "has damaged GZIP data");
  return found == bytes ? Status() : SizeError(static_cast<int64_t>(bytes), found);
}

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) return false;
    const auto byte = static_cast<uint8_t>((*bytes)[0]);
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Signed numbers are zigzag-coded; wrapping arithmetic, as the format has it.
bool TakeSigned(std::string_view* bytes, uint64_t* value) {
  uint64_t raw = 0;
  if (!TakeVarint(bytes, &raw)) return false;
  *value = (raw >> 1) ^ (~(raw & 1) + 1);
  return true;
}

// The `bits` (0 to 32) low-first bits of `bytes` at `position`; false past the end.
bool BitsAt(std::string_view bytes, uint64_t position, int bits, uint32_t* value) {
  *value = 0;
  for (int got = 0; got < bits;) {
    const uint64_t byte = position / 8;
    if (byte >= bytes.size()) return false;
    const int offset = static_cast<int>(position % 8);
    const int take = std::min(8 - offset, bits - got);
    *value |= ((static_cast<uint8_t>(bytes[byte]) >> offset) & ((1u << take) - 1)) << got;
    got += take;
    position += static_cast<uint64_t>(take);
  }
  return true;
}

// One block of deltas: the least one, a width for each miniblock, then the miniblocks. Appends to
// `lengths` until it holds `count`.
bool TakeDeltaBlock(std::string_view* bytes, uint64_t miniblocks, uint64_t per_miniblock,
                    uint64_t count, uint64_t* last, std::vector<uint32_t>* lengths) {
  uint64_t least = 0;
  if (!TakeSigned(bytes, &least) || bytes->size() < miniblocks) return false;
  const std::string_view widths = bytes->substr(0, miniblocks);
  bytes->remove_prefix(miniblocks);
  for (uint64_t m = 0; m < miniblocks && lengths->size() < count; ++m) {
    const int width = static_cast<uint8_t>(widths[m]);
    if (width > 32) return false;
    const std::string_view packed = bytes->substr(0, per_miniblock / 8 * uint64_t(width));
    bytes->remove_prefix(packed.size());
    for (uint64_t i = 0; i < per_miniblock && lengths->size() < count; ++i) {
      uint32_t delta = 0;
      if (!BitsAt(packed, i * uint64_t(width), width, &delta)) return false;
      *last += least + delta;
      if (*last > INT32_MAX) return false;
      lengths->push_back(static_cast<uint32_t>(*last));
    }
  }
  return true;
}

}  // namespace

char* PageBuffer::Reserve(size_t bytes) {
  if (bytes > capacity_) {
    data_ = std::make_unique_for_overwrite<char[]>(bytes);
    capacity_ = bytes;
  }
  return data_.get();
}

Decompressor::Decompressor() : zstd_(nullptr, ZSTD_freeDCtx) {}
Decompressor::~Decompressor() = default;

Status Decompressor::Zstd(std::string_view input, char* out, size_t bytes) {
  if (!zstd_) zstd_.reset(ZSTD_createDCtx());
  if (!zstd_) return Error(Code::kCapacity, "cannot be decompressed: zstd is out of memory");
  const size_t found = ZSTD_decompressDCtx(zstd_.get(), out, bytes, input.data(), input.size());
  if (ZSTD_isError(found))
    return Error(Code::kCorrupt, "has damaged ZSTD data ({})", ZSTD_getErrorName(found));
  return found == bytes ? Status() : SizeError(static_cast<int64_t>(bytes), found);
}

Result<std::string_view> Decompressor::Decompress(Codec codec, std::string_view input,
                                                  int64_t bytes, PageBuffer* buffer) {
  if (codec == Codec::kNone) {
    if (static_cast<int64_t>(input.size()) != bytes) return SizeError(bytes, input.size());
    return input;
  }
  // Some writers store nothing at all for a page of nulls.
  if (input.empty() && bytes == 0) return input;
  const size_t size = static_cast<size_t>(bytes);
  char* out = buffer->Reserve(std::max<size_t>(size, 1));
  switch (codec) {
    case Codec::kSnappy:
      WT_RETURN_IF_ERROR(Snappy(input, out, size));
      break;
    case Codec::kGzip:
      WT_RETURN_IF_ERROR(Gzip(input, out, size));
      break;
    case Codec::kZstd:
      WT_RETURN_IF_ERROR(Zstd(input, out, size));
      break;
    default:
      return Error(Code::kUnsupported,
                   "is compressed with {}; this reader knows UNCOMPRESSED, SNAPPY, GZIP and ZSTD: "
                   "write the file again with one of them",
                   CodecName(codec));
  }
  return std::string_view(out, size);
}

bool RunDecoder::StartRun() {
  uint32_t header = 0;
  for (int shift = 0;; shift += 7) {
    if (bytes_.empty() || shift > 28) return false;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    header |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const size_t value_bytes = static_cast<size_t>(bit_width_ + 7) / 8;
  if (header & 1) {
    packed_ = uint64_t{header >> 1} * 8;
    // A writer may leave out the padding of the last group, so the bytes may end early.
    run_ = bytes_.substr(0, packed_ / 8 * static_cast<uint64_t>(bit_width_));
    bit_ = 0;
    bytes_.remove_prefix(run_.size());
    return true;
  }
  if (bytes_.size() < value_bytes) return false;
  repeats_ = header >> 1;
  value_ = 0;
  for (size_t i = 0; i < value_bytes; ++i)
    value_ |= static_cast<uint32_t>(static_cast<uint8_t>(bytes_[i])) << (8 * i);
  bytes_.remove_prefix(value_bytes);
  return true;
}

bool RunDecoder::NextPacked(uint32_t* value) {
  --packed_;
  if (!BitsAt(run_, bit_, bit_width_, value)) return false;
  bit_ += static_cast<uint64_t>(bit_width_);
  return true;
}

bool RunDecoder::Next(uint32_t* value) {
  for (;;) {
    if (repeats_ > 0) return --repeats_, *value = value_, true;
    if (packed_ > 0) return NextPacked(value);
    if (!StartRun()) return false;
  }
}

Status TakeDeltaLengths(std::string_view* bytes, int64_t count, std::vector<uint32_t>* lengths) {
  const Status damaged = Error(Code::kCorrupt, "has damaged string lengths");
  uint64_t block = 0, miniblocks = 0, total = 0, last = 0;
  if (!TakeVarint(bytes, &block) || !TakeVarint(bytes, &miniblocks) || !TakeVarint(bytes, &total) ||
      !TakeSigned(bytes, &last))
    return damaged;
  const bool sane = block > 0 && block % 128 == 0 && block <= (1u << 20) && miniblocks > 0 &&
                    block % miniblocks == 0 && block / miniblocks % 32 == 0;
  if (!sane || total != static_cast<uint64_t>(count)) return damaged;
  lengths->clear();
  if (count == 0) return {};
  if (last > INT32_MAX) return damaged;
  lengths->push_back(static_cast<uint32_t>(last));
  while (lengths->size() < total) {
    if (!TakeDeltaBlock(bytes, miniblocks, block / miniblocks, total, &last, lengths))
      return damaged;
  }
  return {};
}

}  // namespace wt::text::parquet
