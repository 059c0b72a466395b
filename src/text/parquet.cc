#include "text/parquet.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace wt::text {
namespace {

using parquet::Codec;
using parquet::Encoding;
using parquet::PageHeader;
using parquet::PageType;
using parquet::Repetition;

constexpr std::string_view kParquetMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
constexpr size_t kTailBytes = 8;                   // footer length and magic
constexpr size_t kMaxPageHeaderBytes = 16u << 20;  // statistics may quote whole texts
constexpr const char* kAdvice = "the file is damaged: fetch it again or leave it out";

uint32_t LoadU32(std::string_view bytes) {
  uint32_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The footer's bytes, once both ends of the file are as they should be.
Result<std::string_view> FooterOf(const MappedFile& file) {
  const std::string_view bytes = file.text();
  if (bytes.empty()) {
    return Error(Code::kCorrupt, "{}: the file is empty; expected Parquet: fetch it again",
                 file.path());
  }
  if (bytes.ends_with(kEncryptedMagic)) {
    return Error(Code::kUnsupported, "{}: the file is encrypted; decrypt it first", file.path());
  }
  if (!bytes.starts_with(kParquetMagic)) {
    return Error(Code::kCorrupt, "{}: does not begin with PAR1, so it is not a Parquet file",
                 file.path());
  }
  if (bytes.size() < kParquetMagic.size() + kTailBytes || !bytes.ends_with(kParquetMagic)) {
    return Error(Code::kCorrupt,
                 "{}: does not end with PAR1, so it was cut off after {} bytes; fetch it again",
                 file.path(), bytes.size());
  }
  const size_t tail = bytes.size() - kTailBytes;
  const size_t length = LoadU32(bytes.substr(tail));
  if (length > tail - kParquetMagic.size()) {
    return Error(Code::kCorrupt, "{}: states a footer of {} bytes in a file of {}; {}", file.path(),
                 length, bytes.size(), kAdvice);
  }
  return bytes.substr(tail - length, length);
}

// Index in `schema` just past the subtree that starts at `i`.
size_t SkipSubtree(const std::vector<parquet::SchemaElement>& schema, size_t i) {
  for (int64_t pending = 1; pending > 0 && i < schema.size(); ++i)
    pending += std::max(schema[i].children, 0) - 1;
  return i;
}

}  // namespace

Result<ParquetFile> ParquetFile::Open(const std::string& path, const std::string& column) {
  ParquetFile opened;
  WT_ASSIGN_OR_RETURN(opened.file_, MappedFile::Open(path));
  WT_ASSIGN_OR_RETURN(const std::string_view footer, FooterOf(*opened.file_));
  auto metadata = parquet::ReadFileMetadata(footer, column);
  if (!metadata.ok()) {
    return Error(Code::kCorrupt, "{}: its footer cannot be decoded ({}); {}", path,
                 metadata.status().message(), kAdvice);
  }
  WT_RETURN_IF_ERROR(opened.FindColumn(*metadata, column));
  const auto data_end = static_cast<uint64_t>(footer.data() - opened.file_->text().data());
  WT_RETURN_IF_ERROR(opened.TakeGroups(std::move(*metadata), data_end));
  return opened;
}

Status ParquetFile::FindColumn(const parquet::FileMetadata& metadata, const std::string& column) {
  const auto& schema = metadata.schema;
  std::string names;
  for (size_t i = 1; i < schema.size(); i = SkipSubtree(schema, i)) {
    const auto& element = schema[i];
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + element.name;
    if (element.name != column) continue;
    const bool text = element.children == 0 &&
                      element.type == static_cast<int32_t>(parquet::Type::kByteArray) &&
                      element.repetition != Repetition::kRepeated;
    if (!text) {
      return Error(Code::kUnsupported, "{}: its column {} does not hold one string a row", path(),
                   column);
    }
    optional_ = element.repetition == Repetition::kOptional;
    return {};
  }
  return Error(Code::kNotFound, "{}: has no column {}; its columns are: {}", path(), column, names);
}

Status ParquetFile::TakeGroups(parquet::FileMetadata metadata, uint64_t data_end) {
  for (size_t g = 0; g < metadata.row_groups.size(); ++g) {
    auto& group = metadata.row_groups[g];
    const auto bad = [&](const std::string& what) {
      return Error(Code::kCorrupt, "{}: row group {}: {}; {}", path(), g, what, kAdvice);
    };
    if (group.columns.size() != 1 || group.columns[0].path.size() != 1)
      return bad(fmt::format("{} chunks of the text column, expected 1", group.columns.size()));
    auto& chunk = group.columns[0];
    if (!chunk.file_path.empty())
      return bad(fmt::format("its text is in another file, {}", chunk.file_path));
    if (group.rows < 0 || chunk.values != group.rows)
      return bad(fmt::format("{} values for {} rows", chunk.values, group.rows));
    const int64_t start = chunk.dictionary_offset > 0
                              ? std::min(chunk.dictionary_offset, chunk.data_offset)
                              : chunk.data_offset;
    const bool inside =
        start >= static_cast<int64_t>(kParquetMagic.size()) && chunk.compressed_bytes >= 0 &&
        static_cast<uint64_t>(start) <= data_end &&
        static_cast<uint64_t>(chunk.compressed_bytes) <= data_end - static_cast<uint64_t>(start);
    if (!inside) {
      return bad(fmt::format("its text is said to be {} bytes at {}, outside the file's data",
                             chunk.compressed_bytes, start));
    }
    chunk.data_offset = start;
    if (rows_ > INT64_MAX - group.rows) return bad("too many rows");
    groups_.push_back({group.rows, rows_, std::move(chunk)});
    rows_ += group.rows;
  }
  if (rows_ == metadata.rows) return {};
  return Error(Code::kCorrupt, "{}: its row groups hold {} rows, its footer says {}; {}", path(),
               rows_, metadata.rows, kAdvice);
}

int64_t ParquetFile::column_bytes() const {
  int64_t bytes = 0;
  for (const Group& group : groups_) {
    const int64_t more = std::clamp<int64_t>(group.chunk.uncompressed_bytes, 0, int64_t{1} << 40);
    bytes += std::min(more, INT64_MAX - bytes);
  }
  return bytes;
}

ParquetColumnReader ParquetFile::ReadRowGroup(int group) const {
  WT_CHECK(group >= 0 && group < row_groups(), "row group {} of {}", group, row_groups());
  return ParquetColumnReader(*this, group);
}

ParquetColumnReader::ParquetColumnReader(const ParquetFile& file, int group)
    : file_(file.file_),
      optional_(file.optional_),
      group_(group),
      values_left_(file.rows_in(group)),
      decompressor_(std::make_unique<parquet::Decompressor>()) {
  const parquet::ColumnChunk& chunk = file.groups_[static_cast<size_t>(group)].chunk;
  codec_ = chunk.codec;
  chunk_ = file_->text().substr(static_cast<size_t>(chunk.data_offset),
                                static_cast<size_t>(chunk.compressed_bytes));
}

Status ParquetColumnReader::Damaged(const Status& status) const {
  const char* advice = status.code() == Code::kCorrupt ? kAdvice : "no text was taken from it";
  return Error(status.code(), "{}: row group {}, page {}: {}; {}", file_->path(), group_,
               std::max(page_, 0), status.message(), advice);
}

Result<bool> ParquetColumnReader::Next(std::optional<std::string_view>* value) {
  if (values_left_ == 0) return false;
  while (page_left_ == 0) {
    ++page_;
    if (Status status = NextPage(); !status.ok()) return Damaged(status);
  }
  --page_left_;
  --values_left_;
  uint32_t present = 1;
  if (has_levels_ && (!levels_.Next(&present) || present > 1))
    return Damaged(Error(Code::kCorrupt, "its definition levels are broken"));
  value->reset();
  if (present == 0) return true;
  if (Status status = TakeValue(&value->emplace()); !status.ok()) return Damaged(status);
  return true;
}

// The page's stored bytes, removed from the chunk together with its header.
Result<std::string_view> ParquetColumnReader::TakePageBytes(PageHeader* header) {
  if (chunk_.empty()) {
    return Error(Code::kCorrupt, "the pages end {} values before the row group does", values_left_);
  }
  size_t used = 0;
  auto read = parquet::ReadPageHeader(chunk_.substr(0, kMaxPageHeaderBytes), &used);
  if (!read.ok()) {
    return Error(Code::kCorrupt, "its header cannot be decoded ({})", read.status().message());
  }
  *header = *read;
  chunk_.remove_prefix(used);
  if (header->compressed_bytes < 0 ||
      static_cast<uint64_t>(header->compressed_bytes) > chunk_.size() ||
      header->uncompressed_bytes < 0 || header->uncompressed_bytes > parquet::kMaxPageBytes) {
    return Error(Code::kCorrupt, "states {} bytes, {} decompressed, where {} bytes are left",
                 header->compressed_bytes, header->uncompressed_bytes, chunk_.size());
  }
  const std::string_view raw = chunk_.substr(0, static_cast<size_t>(header->compressed_bytes));
  chunk_.remove_prefix(raw.size());
  if (header->has_crc &&
      crc32_z(0, reinterpret_cast<const Bytef*>(raw.data()), raw.size()) != header->crc) {
    return Error(Code::kCorrupt, "its checksum does not match its bytes");
  }
  return raw;
}

Status ParquetColumnReader::NextPage() {
  PageHeader header;
  WT_ASSIGN_OR_RETURN(const std::string_view raw, TakePageBytes(&header));
  if (header.type == PageType::kDictionary) return StartDictionary(header, raw);
  if (header.type != PageType::kData && header.type != PageType::kDataV2) return {};  // an index
  if (!header.has_body || header.values < 0 ||
      header.values > std::min(values_left_, parquet::kMaxPageValues)) {
    return Error(Code::kCorrupt, "states {} values where {} are left in the row group",
                 header.values, values_left_);
  }
  page_left_ = header.values;
  return header.type == PageType::kData ? StartData(header, raw) : StartDataV2(header, raw);
}

Status ParquetColumnReader::StartDictionary(const PageHeader& header, std::string_view raw) {
  if (has_dictionary_) return Error(Code::kCorrupt, "is a second dictionary");
  if (header.encoding != Encoding::kPlain && header.encoding != Encoding::kPlainDictionary) {
    return Error(Code::kUnsupported, "has a dictionary in {}",
                 parquet::EncodingName(header.encoding));
  }
  WT_ASSIGN_OR_RETURN(values_, decompressor_->Decompress(codec_, raw, header.uncompressed_bytes,
                                                         &dictionary_buffer_));
  if (!header.has_body || header.values < 0 ||
      static_cast<uint64_t>(header.values) > values_.size() / sizeof(uint32_t))
    return Error(Code::kCorrupt, "states {} values in {} bytes", header.values, values_.size());
  dictionary_.resize(static_cast<size_t>(header.values));
  for (std::string_view& value : dictionary_) WT_RETURN_IF_ERROR(TakePlain(&value));
  has_dictionary_ = true;
  return {};
}

Status ParquetColumnReader::StartData(const PageHeader& header, std::string_view raw) {
  WT_ASSIGN_OR_RETURN(
      std::string_view bytes,
      decompressor_->Decompress(codec_, raw, header.uncompressed_bytes, &page_buffer_));
  has_levels_ = optional_;
  if (has_levels_) {
    if (header.level_encoding != Encoding::kRle) {
      return Error(Code::kUnsupported, "has definition levels in {}",
                   parquet::EncodingName(header.level_encoding));
    }
    if (bytes.size() < sizeof(uint32_t) || LoadU32(bytes) > bytes.size() - sizeof(uint32_t))
      return Error(Code::kCorrupt, "its definition levels are cut off");
    levels_ = parquet::RunDecoder(bytes.substr(sizeof(uint32_t), LoadU32(bytes)), 1);
    bytes.remove_prefix(sizeof(uint32_t) + LoadU32(bytes));
  }
  return StartValues(header, bytes);
}

Status ParquetColumnReader::StartDataV2(const PageHeader& header, std::string_view raw) {
  const int64_t level_bytes = header.definition_bytes + header.repetition_bytes;
  if (header.definition_bytes < 0 || header.repetition_bytes < 0 ||
      level_bytes > static_cast<int64_t>(raw.size()) || level_bytes > header.uncompressed_bytes)
    return Error(Code::kCorrupt, "its levels take {} of {} bytes", level_bytes, raw.size());
  has_levels_ = optional_;
  levels_ = parquet::RunDecoder(raw.substr(static_cast<size_t>(header.repetition_bytes),
                                           static_cast<size_t>(header.definition_bytes)),
                                1);
  WT_ASSIGN_OR_RETURN(
      const std::string_view bytes,
      decompressor_->Decompress(header.compressed ? codec_ : Codec::kNone,
                                raw.substr(static_cast<size_t>(level_bytes)),
                                header.uncompressed_bytes - level_bytes, &page_buffer_));
  return StartValues(header, bytes);
}

Status ParquetColumnReader::StartValues(const PageHeader& header, std::string_view bytes) {
  encoding_ = header.encoding;
  values_ = bytes;
  switch (encoding_) {
    case Encoding::kPlain:
      return {};
    case Encoding::kDeltaLengthByteArray:
      return StartDeltaLengths(bytes);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary: {
      if (!has_dictionary_)
        return Error(Code::kCorrupt, "refers to a dictionary that is not there");
      const int width = bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]);
      if (width > 32) return Error(Code::kCorrupt, "has indices of {} bits", width);
      indices_ = parquet::RunDecoder(bytes.substr(bytes.empty() ? 0 : 1), width);
      return {};
    }
    default:
      return Error(Code::kUnsupported,
                   "its values are in {}; this reader knows PLAIN, DELTA_LENGTH_BYTE_ARRAY and "
                   "dictionaries: write the file again with one of them",
                   parquet::EncodingName(encoding_));
  }
}

// How many lengths there are is only known once nulls are counted, so the levels are walked first.
Status ParquetColumnReader::StartDeltaLengths(std::string_view bytes) {
  int64_t present = page_left_;
  if (has_levels_) {
    parquet::RunDecoder levels = levels_;
    present = 0;
    for (int64_t i = 0; i < page_left_; ++i) {
      uint32_t level = 0;
      if (!levels.Next(&level)) return Error(Code::kCorrupt, "its definition levels are broken");
      present += level == 1;
    }
  }
  next_length_ = 0;
  WT_RETURN_IF_ERROR(parquet::TakeDeltaLengths(&bytes, present, &lengths_));
  values_ = bytes;
  return {};
}

Status ParquetColumnReader::TakePlain(std::string_view* value) {
  if (values_.size() < sizeof(uint32_t) || LoadU32(values_) > values_.size() - sizeof(uint32_t))
    return Error(Code::kCorrupt, "a string runs past its end");
  *value = values_.substr(sizeof(uint32_t), LoadU32(values_));
  values_.remove_prefix(sizeof(uint32_t) + value->size());
  return {};
}

Status ParquetColumnReader::TakeValue(std::string_view* value) {
  if (encoding_ == Encoding::kPlain) return TakePlain(value);
  if (encoding_ == Encoding::kDeltaLengthByteArray) {
    if (next_length_ == lengths_.size() || lengths_[next_length_] > values_.size())
      return Error(Code::kCorrupt, "a string runs past its end");
    *value = values_.substr(0, lengths_[next_length_++]);
    values_.remove_prefix(value->size());
    return {};
  }
  uint32_t index = 0;
  if (!indices_.Next(&index)) return Error(Code::kCorrupt, "its dictionary indices end early");
  if (index >= dictionary_.size()) {
    return Error(Code::kCorrupt, "refers to entry {} of a dictionary of {}", index,
                 dictionary_.size());
  }
  *value = dictionary_[index];
  return {};
}

}  // namespace wt::text
