#include "text/token_bin.h"

#include <cstring>

namespace wt::text {
namespace {

constexpr size_t kHeaderBytes = 256 * sizeof(int32_t);
constexpr int32_t kMagicU16 = 20240520, kVersionU16 = 1;
constexpr int32_t kMagicU32 = 20240801, kVersionU32 = 7;

}  // namespace

Result<TokenBin> TokenBin::Open(const std::string& path) {
  TokenBin bin;
  WT_ASSIGN_OR_RETURN(bin.file_, MappedFile::Open(path));
  const std::span<const std::byte> bytes = bin.file_->bytes();
  if (bytes.size() < kHeaderBytes) {
    return Error(Code::kCorrupt,
                 "{}: {} bytes, fewer than a token file's header of {}; fetch it "
                 "again",
                 path, bytes.size(), kHeaderBytes);
  }
  int32_t header[3];  // magic, version, tokens
  std::memcpy(header, bytes.data(), sizeof header);
  const bool narrow = header[0] == kMagicU16 && header[1] == kVersionU16;
  bin.wide_ = header[0] == kMagicU32 && header[1] == kVersionU32;
  if (!narrow && !bin.wide_) {
    return Error(Code::kCorrupt,
                 "{}: magic {} version {}; a token file has {} version {} (uint16) or {} version "
                 "{} (uint32)",
                 path, header[0], header[1], kMagicU16, kVersionU16, kMagicU32, kVersionU32);
  }
  const size_t count = static_cast<uint32_t>(header[2]);
  const size_t id_bytes = bin.wide_ ? sizeof(uint32_t) : sizeof(uint16_t);
  if (header[2] < 0 || bytes.size() - kHeaderBytes != count * id_bytes) {
    return Error(Code::kCorrupt,
                 "{}: states {} tokens of {} bytes, but {} bytes follow its header; fetch it again",
                 path, header[2], id_bytes, bytes.size() - kHeaderBytes);
  }
  const std::byte* ids = bytes.data() + kHeaderBytes;  // a mapping starts at a page: aligned
  if (bin.wide_) {
    bin.u32_ = {reinterpret_cast<const uint32_t*>(ids), count};
  } else {
    bin.u16_ = {reinterpret_cast<const uint16_t*>(ids), count};
  }
  return bin;
}

Status TokenBin::CheckIds(int64_t vocab_size) const {
  for (int64_t i = 0; i < size(); ++i) {
    if ((*this)[i] < vocab_size) continue;
    return Error(Code::kMismatch,
                 "{}: token {} is id {}, and the vocabulary has {}; it was written with another "
                 "tokenizer",
                 file_->path(), i, (*this)[i], vocab_size);
  }
  return {};
}

}  // namespace wt::text
