#include "text/token_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>

namespace wt::text {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

constexpr char kTokenFileMagic[8] = {'W', 'T', 'T', 'O', 'K', 'E', 'N', 'S'};
constexpr uint32_t kTokenFileVersion = 1;
constexpr size_t kHashDigits = 64;
constexpr size_t kFlushBytes = 1 << 20;

struct Header {
  char magic[8];
  uint32_t version, token_bytes;
  uint64_t vocab_size, documents, row_groups, tokens, raw_bytes;
  char tokenizer_hash[kHashDigits];
  uint32_t tokens_crc, index_crc;
  char reserved[60];
  uint32_t header_crc;
};
static_assert(sizeof(Header) == 192 && offsetof(Header, header_crc) == 188);

uint32_t Crc(std::string_view bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
std::string_view BytesOf(std::span<const T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

std::string_view BytesBeforeCrc(const Header& header) {
  return {reinterpret_cast<const char*>(&header), offsetof(Header, header_crc)};
}

// Zero bytes between the ids and the document index.
uint64_t Padding(uint64_t id_bytes) { return (8 - id_bytes % 8) % 8; }

bool IsHash(std::string_view hash) {
  return hash.size() == kHashDigits && std::all_of(hash.begin(), hash.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

template <class Id>
void AppendIds(std::span<const int32_t> ids, std::string* out) {
  const size_t at = out->size();
  out->resize(at + ids.size() * sizeof(Id));
  for (size_t i = 0; i < ids.size(); ++i) {
    const Id id = static_cast<Id>(ids[i]);
    std::memcpy(out->data() + at + i * sizeof(Id), &id, sizeof(Id));
  }
}

Status Corrupt(const std::string& path, std::string_view what) {
  return Error(Code::kCorrupt, "{}: {}; copy or tokenise it again", path, what);
}

// Is this a header this version can read, of a file of this size?
Status CheckHeader(const Header& h, uint64_t size, const std::string& path) {
  if (std::memcmp(h.magic, kTokenFileMagic, sizeof kTokenFileMagic) != 0) {
    return Error(Code::kCorrupt,
                 "{}: not a token file; expected one written by the tokenise step, which begins "
                 "with \"WTTOKENS\"",
                 path);
  }
  if (h.version != kTokenFileVersion) {
    return Error(Code::kUnsupported,
                 "{}: token file of version {}; expected version {}; tokenise the text again with "
                 "this program",
                 path, h.version, kTokenFileVersion);
  }
  if (h.header_crc != Crc(BytesBeforeCrc(h))) return Corrupt(path, "damaged header");
  const uint64_t expected_width = h.vocab_size > 65536 ? 4 : 2;
  if (h.vocab_size < 1 || h.vocab_size > std::numeric_limits<int32_t>::max() ||
      h.token_bytes != expected_width || !IsHash({h.tokenizer_hash, kHashDigits})) {
    return Corrupt(path, "impossible vocabulary size, id width or tokenizer hash in the header");
  }
  // Each count is bounded before any two are multiplied or added, so that nothing wraps around.
  const bool fits = h.tokens <= size / h.token_bytes && h.documents < size / 8 &&
                    h.row_groups <= h.documents && h.raw_bytes <= uint64_t{1} << 62;
  const uint64_t id_bytes = fits ? h.tokens * h.token_bytes : 0;
  const uint64_t expected =
      sizeof(Header) + id_bytes + Padding(id_bytes) + 8 * (h.documents + h.row_groups + 2);
  if (!fits || size != expected) {
    return Error(Code::kCorrupt,
                 "{}: {} bytes, but its header promises {} tokens, {} documents and {} row groups; "
                 "it was cut short or has something added: copy or tokenise it again",
                 path, size, h.tokens, h.documents, h.row_groups);
  }
  return {};
}

}  // namespace

TokenFileWriter::TokenFileWriter(AtomicFile file, TokenFileInfo info)
    : file_(std::move(file)),
      info_(std::move(info)),
      token_bytes_(info_.vocab_size > 65536 ? 4 : 2) {}

Result<TokenFileWriter> TokenFileWriter::Create(const std::string& path,
                                                const TokenFileInfo& info) {
  if (info.vocab_size < 1 || info.vocab_size > std::numeric_limits<int32_t>::max()) {
    return Error(Code::kInvalidArgument, "{}: vocabulary of {} ids; expected 1 to 2^31 - 1", path,
                 info.vocab_size);
  }
  if (!IsHash(info.tokenizer_hash)) {
    return Error(Code::kInvalidArgument,
                 "{}: tokenizer hash \"{}\"; expected 64 lower-case hexadecimal digits", path,
                 info.tokenizer_hash);
  }
  if (info.group_documents < 0) {
    return Error(Code::kInvalidArgument, "{}: row groups of {} documents; expected 0 or more", path,
                 info.group_documents);
  }
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  TokenFileWriter writer(std::move(file), info);
  WT_RETURN_IF_ERROR(writer.file_.Append(std::string(sizeof(Header), '\0')));
  return writer;
}

Status TokenFileWriter::CheckIds(std::span<const int32_t> ids) const {
  const auto bad = std::find_if(ids.begin(), ids.end(),
                                [this](int32_t id) { return id < 0 || id >= info_.vocab_size; });
  if (bad == ids.end()) return {};
  return Error(Code::kInvalidArgument,
               "document {}, token {}: id {}; expected an id in [0, {}): is this the tokenizer the "
               "file was created for?",
               document_starts_.size() - 1, bad - ids.begin(), *bad, info_.vocab_size);
}

Status TokenFileWriter::AddDocument(std::span<const int32_t> ids, int64_t raw_bytes) {
  WT_RETURN_IF_ERROR(CheckIds(ids));
  token_bytes_ == 2 ? AppendIds<uint16_t>(ids, &buffer_) : AppendIds<uint32_t>(ids, &buffer_);
  document_starts_.push_back(document_starts_.back() + ids.size());
  raw_bytes_ += raw_bytes;
  const uint64_t open = document_starts_.size() - 1 - group_starts_.back();
  if (info_.group_documents > 0 && open == static_cast<uint64_t>(info_.group_documents)) {
    EndRowGroup();
  }
  return buffer_.size() >= kFlushBytes ? Flush() : Status();
}

void TokenFileWriter::EndRowGroup() {
  const uint64_t documents = document_starts_.size() - 1;
  if (documents > group_starts_.back()) group_starts_.push_back(documents);
}

Status TokenFileWriter::Flush() {
  tokens_crc_ = Crc(buffer_, tokens_crc_);
  WT_RETURN_IF_ERROR(file_.Append(buffer_));
  buffer_.clear();
  return {};
}

Status TokenFileWriter::Finish() {
  EndRowGroup();
  WT_RETURN_IF_ERROR(Flush());
  const std::string_view documents = BytesOf(std::span<const uint64_t>(document_starts_));
  const std::string_view groups = BytesOf(std::span<const uint64_t>(group_starts_));
  const uint64_t id_bytes = document_starts_.back() * static_cast<uint64_t>(token_bytes_);
  WT_RETURN_IF_ERROR(file_.Append(std::string(Padding(id_bytes), '\0')));
  WT_RETURN_IF_ERROR(file_.Append(documents));
  WT_RETURN_IF_ERROR(file_.Append(groups));

  Header h = {};
  std::memcpy(h.magic, kTokenFileMagic, sizeof kTokenFileMagic);
  h.version = kTokenFileVersion;
  h.token_bytes = static_cast<uint32_t>(token_bytes_);
  h.vocab_size = static_cast<uint64_t>(info_.vocab_size);
  h.documents = document_starts_.size() - 1;
  h.row_groups = group_starts_.size() - 1;
  h.tokens = document_starts_.back();
  h.raw_bytes = static_cast<uint64_t>(raw_bytes_);
  std::memcpy(h.tokenizer_hash, info_.tokenizer_hash.data(), kHashDigits);
  h.tokens_crc = tokens_crc_;
  h.index_crc = Crc(groups, Crc(documents));
  h.header_crc = Crc(BytesBeforeCrc(h));
  WT_RETURN_IF_ERROR(file_.WriteAt(0, {reinterpret_cast<const char*>(&h), sizeof h}));
  return file_.Commit();
}

Result<std::shared_ptr<const TokenFile>> TokenFile::Open(const std::string& path,
                                                         std::string_view tokenizer_hash) {
  std::shared_ptr<TokenFile> file(new TokenFile());
  WT_ASSIGN_OR_RETURN(file->file_, MappedFile::Open(path));
  WT_RETURN_IF_ERROR(file->ReadHeader());
  if (!tokenizer_hash.empty() && tokenizer_hash != file->tokenizer_hash_) {
    return Error(Code::kMismatch,
                 "{}: written with tokenizer {}, expected {}; tokenise the text again with the "
                 "tokenizer in use",
                 path, file->tokenizer_hash_, tokenizer_hash);
  }
  WT_RETURN_IF_ERROR(file->CheckIndex());
  WT_RETURN_IF_ERROR(file->CheckIds());
  return std::shared_ptr<const TokenFile>(std::move(file));
}

Status TokenFile::ReadHeader() {
  const std::string_view text = file_->text();
  Header h;
  if (text.size() < sizeof h) {
    return Error(
        Code::kCorrupt,
        "{}: {} bytes, too short for a token file; expected at least {}; tokenise it again", name(),
        text.size(), sizeof h);
  }
  std::memcpy(&h, text.data(), sizeof h);
  WT_RETURN_IF_ERROR(CheckHeader(h, text.size(), name()));
  vocab_size_ = static_cast<int64_t>(h.vocab_size);
  raw_bytes_ = static_cast<int64_t>(h.raw_bytes);
  tokenizer_hash_.assign(h.tokenizer_hash, kHashDigits);
  tokens_crc_ = h.tokens_crc;
  index_crc_ = h.index_crc;

  const char* ids = text.data() + sizeof h;
  const uint64_t id_bytes = h.tokens * h.token_bytes;
  if (h.token_bytes == 2) narrow_ = {reinterpret_cast<const uint16_t*>(ids), h.tokens};
  if (h.token_bytes == 4) wide_ = {reinterpret_cast<const uint32_t*>(ids), h.tokens};
  const auto* index = reinterpret_cast<const uint64_t*>(ids + id_bytes + Padding(id_bytes));
  document_starts_ = {index, h.documents + 1};
  group_starts_ = {index + h.documents + 1, h.row_groups + 1};
  return {};
}

Status TokenFile::CheckIndex() const {
  if (Crc(BytesOf(group_starts_), Crc(BytesOf(document_starts_))) != index_crc_) {
    return Corrupt(name(), "damaged document or row-group index");
  }
  const uint64_t tokens = narrow_.size() + wide_.size();
  const bool documents_ascend = document_starts_.front() == 0 &&
                                document_starts_.back() == tokens &&
                                std::is_sorted(document_starts_.begin(), document_starts_.end());
  const bool groups_ascend =
      group_starts_.front() == 0 && group_starts_.back() + 1 == document_starts_.size() &&
      std::adjacent_find(group_starts_.begin(), group_starts_.end(),
                         std::greater_equal<uint64_t>()) == group_starts_.end();
  if (documents_ascend && groups_ascend) return {};
  return Corrupt(name(), "document or row-group index that does not ascend within the file");
}

Status TokenFile::CheckIds() const {
  const int64_t bad =
      std::max(FirstAtLeast(narrow_, vocab_size_), FirstAtLeast(wide_, vocab_size_));
  if (bad < 0) return {};
  return Error(Code::kCorrupt,
               "{}: token {} has an id outside the vocabulary of {} ids; copy or tokenise it again",
               name(), bad, vocab_size_);
}

std::string_view TokenFile::TokenText() const {
  return narrow_.data() ? BytesOf(narrow_) : BytesOf(wide_);
}

Status TokenFile::VerifyTokens() const {
  if (Crc(TokenText()) == tokens_crc_) return {};
  return Corrupt(name(), "the ids do not match their checksum");
}

void TokenFile::Copy(int64_t document, int64_t begin, std::span<int32_t> out) const {
  const int64_t from = DocumentStart(document) + begin;
  if (narrow_.data()) {
    std::copy_n(narrow_.data() + from, out.size(), out.data());
  } else {
    std::copy_n(wide_.data() + from, out.size(), out.data());
  }
}

}  // namespace wt::text
