#include "text/documents.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/files.h"
#include "text/jsonl.h"
#include "text/parquet.h"

namespace wt::text {
namespace {

constexpr const char* kExpected = "expected .txt, .jsonl, .jsonl.zst or .parquet";

std::optional<DocumentFormat> FormatOf(std::string_view path) {
  if (path.ends_with(".txt")) return DocumentFormat::kText;
  if (path.ends_with(".jsonl")) return DocumentFormat::kJsonLines;
  if (path.ends_with(".jsonl.zst")) return DocumentFormat::kJsonLinesZstd;
  if (path.ends_with(".parquet")) return DocumentFormat::kParquet;
  return std::nullopt;
}

bool IsHidden(const std::string& path) {
  return std::filesystem::path(path).filename().string().starts_with(".");
}

// Says what was found in place of documents.
Status NoDocuments(const std::string& spec, const std::vector<std::string>& paths) {
  std::set<std::string> kinds;
  for (const std::string& path : paths) kinds.insert(std::filesystem::path(path).extension());
  if (kinds == std::set<std::string>{".bin"}) {
    return Error(Code::kInvalidArgument,
                 "{}: .bin files hold token ids, not text; {}, or train on the tokens as they are",
                 spec, kExpected);
  }
  std::string found;
  for (const std::string& kind : kinds) found += (found.empty() ? "" : ", ") + kind;
  return Error(Code::kInvalidArgument, "{}: no document files there, only {}; {}", spec,
               found.empty() ? "files without an ending" : found, kExpected);
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > static_cast<uint64_t>(kMaxDocumentBytes) &&
      !error) {
    return Error(Code::kCapacity,
                 "{}: over {} MiB in one document; split it into documents, say as .jsonl", path,
                 kMaxDocumentBytes >> 20);
  }
  WT_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.empty())
    return Error(Code::kCorrupt, "{}: the file is empty; delete it or fetch it again", path);
  return text;
}

class ParquetReader : public DocumentReader {
 public:
  ParquetReader(ParquetFile file, RowGroupStride stride) : file_(std::move(file)), stride_(stride) {
    group_ = static_cast<int>(std::min<int64_t>(stride_.first, file_.row_groups()));
    Start();
  }

  Result<bool> Next(Document* document) override {
    std::optional<std::string_view> value;
    while (!value) {
      if (!rows_) return false;
      WT_ASSIGN_OR_RETURN(const bool more, rows_->Next(&value));
      if (more) {
        ++row_;
      } else {
        group_ = static_cast<int>(std::min<int64_t>(group_ + stride_.step, file_.row_groups()));
        Start();
      }
    }
    document->text = *value;
    document->row_group = group_;
    document->id = fmt::format("{}:{}", file_.path(), row_ - 1);
    return true;
  }

 private:
  void Start() {
    rows_.reset();
    if (group_ >= file_.row_groups()) return;
    rows_.emplace(file_.ReadRowGroup(group_));
    row_ = file_.first_row(group_);
  }

  ParquetFile file_;
  RowGroupStride stride_;
  int group_;
  int64_t row_ = 0;
  std::optional<ParquetColumnReader> rows_;
};

// The files one after another. A run of .txt files is one "file" of documents.
class ChainReader : public DocumentReader {
 public:
  ChainReader(std::vector<DocumentFile> files, RowGroupStride stride)
      : files_(std::move(files)), stride_(stride) {}

  Result<bool> Next(Document* document) override {
    for (;;) {
      if (current_) {
        WT_ASSIGN_OR_RETURN(const bool more, current_->Next(document));
        document->file = file_;
        if (more) return true;
        current_.reset();
      }
      if (next_ == files_.size()) return false;
      const DocumentFile& file = files_[next_++];
      if (file.format == DocumentFormat::kText) {
        WT_ASSIGN_OR_RETURN(const bool taken, NextText(file, document));
        if (taken) return true;
      } else {
        ++file_;
        WT_ASSIGN_OR_RETURN(current_, Open(file));
      }
    }
  }

 private:
  Result<bool> NextText(const DocumentFile& file, Document* document) {
    const bool continues = next_ >= 2 && files_[next_ - 2].format == DocumentFormat::kText;
    if (!continues) ++file_, texts_ = 0;
    document->file = file_;
    document->row_group = texts_++ / kRowGroupDocuments;
    if (!stride_.Takes(document->row_group)) return false;
    WT_ASSIGN_OR_RETURN(document->text, ReadTextFile(file.path));
    document->id = file.path;
    return true;
  }

  Result<std::unique_ptr<DocumentReader>> Open(const DocumentFile& file) const {
    if (file.format != DocumentFormat::kParquet)
      return OpenJsonLines(file.path, file.format == DocumentFormat::kJsonLinesZstd, stride_);
    WT_ASSIGN_OR_RETURN(ParquetFile parquet, ParquetFile::Open(file.path));
    return std::unique_ptr<DocumentReader>(
        std::make_unique<ParquetReader>(std::move(parquet), stride_));
  }

  std::vector<DocumentFile> files_;
  RowGroupStride stride_;
  size_t next_ = 0;
  int64_t file_ = -1;
  int64_t texts_ = 0;  // .txt files so far in the run at hand
  std::unique_ptr<DocumentReader> current_;
};

}  // namespace

Result<std::vector<DocumentFile>> ListDocumentFiles(const std::string& spec) {
  WT_ASSIGN_OR_RETURN(std::vector<std::string> paths, ListFiles(spec));
  std::vector<DocumentFile> files;
  for (const std::string& path : paths) {
    const auto format = FormatOf(path);
    if (format && (!IsHidden(path) || path == spec)) files.push_back({path, *format});
  }
  if (files.empty()) return NoDocuments(spec, paths);
  return files;
}

std::unique_ptr<DocumentReader> ReadDocumentFiles(std::vector<DocumentFile> files,
                                                  RowGroupStride stride) {
  WT_CHECK(0 <= stride.first && stride.first < stride.step, "stride {} of {}", stride.first,
           stride.step);
  return std::make_unique<ChainReader>(std::move(files), stride);
}

Result<std::unique_ptr<DocumentReader>> OpenDocuments(const std::string& spec,
                                                      RowGroupStride stride) {
  WT_ASSIGN_OR_RETURN(auto files, ListDocumentFiles(spec));
  return ReadDocumentFiles(std::move(files), stride);
}

}  // namespace wt::text
