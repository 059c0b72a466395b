// A reader for the text column of Parquet files, the form public training corpora come in: footer,
// row groups, data pages v1 and v2, PLAIN, DELTA_LENGTH and dictionary encodings, SNAPPY, GZIP and
// ZSTD. Other columns are never touched. Values are views into the mapped file or into one
// decompressed page, so text is copied once, by whoever keeps it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/status.h"
#include "text/parquet_codec.h"
#include "text/parquet_format.h"

namespace wt::text {

class ParquetColumnReader;

// An open file. Copies share the mapping.
class ParquetFile {
 public:
  // Needs a file whose top-level column `column` holds byte strings, required or optional. Fails,
  // naming the file, when it is not Parquet, is cut off, or has no such column.
  static Result<ParquetFile> Open(const std::string& path, const std::string& column = "text");

  const std::string& path() const { return file_->path(); }
  int64_t rows() const { return rows_; }
  int row_groups() const { return static_cast<int>(groups_.size()); }
  // Requires 0 <= group < row_groups(); so do the others.
  int64_t rows_in(int group) const { return groups_[static_cast<size_t>(group)].rows; }
  int64_t first_row(int group) const { return groups_[static_cast<size_t>(group)].first_row; }
  // The column's size before compression, with 4 bytes a value on top, as the footer states it.
  int64_t column_bytes() const;

  ParquetColumnReader ReadRowGroup(int group) const;

 private:
  friend class ParquetColumnReader;
  struct Group {
    int64_t rows = 0, first_row = 0;
    parquet::ColumnChunk chunk;
  };
  Status FindColumn(const parquet::FileMetadata& metadata, const std::string& column);
  Status TakeGroups(parquet::FileMetadata metadata, uint64_t data_end);

  std::shared_ptr<const MappedFile> file_;
  std::vector<Group> groups_;
  int64_t rows_ = 0;
  bool optional_ = false;
};

// The values of one row group, in order. Keeps the file mapped.
class ParquetColumnReader {
 public:
  // True and the next value (nullopt for a null), false after the last. The view holds until the
  // next call. Fails, naming file, row group and page, when a page is damaged.
  Result<bool> Next(std::optional<std::string_view>* value);

 private:
  friend class ParquetFile;
  ParquetColumnReader(const ParquetFile& file, int group);

  Status NextPage();
  Result<std::string_view> TakePageBytes(parquet::PageHeader* header);
  Status StartDictionary(const parquet::PageHeader& header, std::string_view raw);
  Status StartData(const parquet::PageHeader& header, std::string_view raw);
  Status StartDataV2(const parquet::PageHeader& header, std::string_view raw);
  Status StartValues(const parquet::PageHeader& header, std::string_view bytes);
  Status StartDeltaLengths(std::string_view bytes);
  Status TakePlain(std::string_view* value);
  Status TakeValue(std::string_view* value);
  Status Damaged(const Status& status) const;

  std::shared_ptr<const MappedFile> file_;
  parquet::Codec codec_;
  bool optional_;
  int group_;
  int page_ = -1;           // the page at hand, counted from 0 with the dictionary page
  std::string_view chunk_;  // bytes of the column not yet looked at
  int64_t values_left_;     // in the row group
  int64_t page_left_ = 0;   // in the page

  std::unique_ptr<parquet::Decompressor> decompressor_;
  parquet::PageBuffer page_buffer_, dictionary_buffer_;
  std::vector<std::string_view> dictionary_;
  bool has_dictionary_ = false;
  parquet::Encoding encoding_ = parquet::Encoding::kPlain;
  parquet::RunDecoder levels_, indices_;
  bool has_levels_ = false;
  std::string_view values_;        // what is left of the page's PLAIN or DELTA_LENGTH bytes
  std::vector<uint32_t> lengths_;  // DELTA_LENGTH
  size_t next_length_ = 0;
};

}  // namespace wt::text
