// Writes the few protobuf wire types that a Perfetto trace needs. Messages are written inside out:
// a nested message is built in its own writer and then added as bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace wt::chip {

class ProtoWriter {
 public:
  void Varint(int field, uint64_t value) {
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(value);
  }
  void Fixed64(int field, uint64_t value) {
    Raw(static_cast<uint64_t>(field) << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void Double(int field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  void Bytes(int field, std::string_view value) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(value.size());
    bytes_.append(value);
  }
  void Message(int field, const ProtoWriter& message) { Bytes(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  void Clear() { bytes_.clear(); }

 private:
  void Raw(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace wt::chip
