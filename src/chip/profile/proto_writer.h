// Writes the few protobuf wire types that a Perfetto trace needs, into one buffer that is used
// again. Inlined, so that a field's number costs nothing: a trace has millions of them.
//     const size_t event = writer.Open(kEvent);
//     writer.Varint(kType, 1);
//     writer.Close(event);
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "chip/clones.h"

namespace wt::chip {

class ProtoWriter {
 public:
  WT_INLINE void Varint(int field, uint64_t value) {
    char* to = Room(2 * kMostVarintBytes);
    to = Put(to, Key(field, 0));
    Took(Put(to, value));
  }
  WT_INLINE void Fixed64(int field, uint64_t value) {
    char* to = Put(Room(kMostVarintBytes + 8), Key(field, 1));
    for (int i = 0; i < 8; ++i) *to++ = static_cast<char>(value >> (8 * i) & 0xff);
    Took(to);
  }
  void Double(int field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  WT_INLINE void Bytes(int field, std::string_view value) {
    char* to = Put(Room(2 * kMostVarintBytes + value.size()), Key(field, 2));
    to = Put(to, value.size());
    std::memcpy(to, value.data(), value.size());
    Took(to + value.size());
  }
  // A nested message: what is written between Open and Close(what Open gave).
  WT_INLINE size_t Open(int field) {
    char* to = Put(Room(kMostVarintBytes + 1), Key(field, 2));
    Took(to + 1);  // one byte for the length, enough for nearly all
    return size_;
  }
  WT_INLINE void Close(size_t begin) {
    const size_t length = size_ - begin;
    if (length < 0x80) {
      buffer_[begin - 1] = static_cast<char>(length);
      return;
    }
    char varint[kMostVarintBytes];
    const auto bytes = static_cast<size_t>(Put(varint, length) - varint);
    Room(bytes);
    std::memmove(&buffer_[begin + bytes - 1], &buffer_[begin], length);
    std::memcpy(&buffer_[begin - 1], varint, bytes);
    size_ += bytes - 1;
  }

  std::string_view bytes() const { return {buffer_.data(), size_}; }
  size_t size() const { return size_; }
  void Clear() { size_ = 0; }

 private:
  static constexpr size_t kMostVarintBytes = 10;

  WT_INLINE static uint64_t Key(int field, int wire_type) {
    return static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type);
  }
  WT_INLINE static char* Put(char* to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to++ = static_cast<char>(value);
    return to;
  }
  // Where the next bytes go; at least `bytes` of them fit.
  WT_INLINE char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) buffer_.resize(2 * buffer_.size() + bytes);
    return buffer_.data() + size_;
  }
  void Took(const char* end) { size_ = static_cast<size_t>(end - buffer_.data()); }

  std::string buffer_;  // its first size_ bytes are written
  size_t size_ = 0;
};

}  // namespace wt::chip
