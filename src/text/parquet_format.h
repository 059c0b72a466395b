// The records of a Parquet file that a text reader needs, and their decoding from Thrift's compact
// protocol. Field numbers and meanings are those of the format's published parquet.thrift; every
// other field is skipped. Nothing read here is trusted: parquet.cc checks it against the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::text::parquet {

enum class Type : int32_t { kByteArray = 6 };
enum class Repetition : int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class Codec : int32_t { kNone = 0, kSnappy = 1, kGzip = 2, kZstd = 6 };
enum class PageType : int32_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };
enum class Encoding : int32_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kDeltaLengthByteArray = 6,
  kRleDictionary = 8
};

std::string CodecName(Codec codec);           // "SNAPPY", or "codec 5"
std::string EncodingName(Encoding encoding);  // "PLAIN", or "encoding 7"

struct SchemaElement {
  std::string name;
  int32_t type = -1;  // -1 for a group
  Repetition repetition = Repetition::kRequired;
  int32_t children = 0;
};

struct ColumnChunk {
  std::vector<std::string> path;
  std::string file_path;  // other than "": the data is in another file
  int32_t type = -1;
  Codec codec = Codec::kNone;
  int64_t values = 0;
  int64_t compressed_bytes = 0;
  int64_t uncompressed_bytes = 0;
  int64_t data_offset = 0;
  int64_t dictionary_offset = 0;  // 0: no dictionary page
};

struct RowGroup {
  std::vector<ColumnChunk> columns;  // only those named by ReadFileMetadata's `column`
  int64_t rows = 0;
};

struct FileMetadata {
  std::vector<SchemaElement> schema;
  std::vector<RowGroup> row_groups;
  int64_t rows = 0;
  std::string created_by;
};

struct PageHeader {
  PageType type = PageType::kData;
  int64_t uncompressed_bytes = -1;
  int64_t compressed_bytes = -1;
  bool has_crc = false;
  uint32_t crc = 0;
  // Of whichever of the data, dictionary and data v2 headers is there:
  bool has_body = false;
  int64_t values = -1;
  Encoding encoding = Encoding::kPlain;
  Encoding level_encoding = Encoding::kRle;  // v1
  int64_t definition_bytes = 0;              // v2
  int64_t repetition_bytes = 0;              // v2
  bool compressed = true;                    // v2
};

// Decodes the footer, keeping of each row group the chunks whose path begins with `column`.
// Fails with kCorrupt and the decoder's reason.
Result<FileMetadata> ReadFileMetadata(std::string_view bytes, const std::string& column);

// Decodes the page header at the start of `bytes`; *used is its length.
Result<PageHeader> ReadPageHeader(std::string_view bytes, size_t* used);

}  // namespace wt::text::parquet
