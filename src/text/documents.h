// Documents: the first station of the data's way. Whatever form a corpus comes in (.txt, .jsonl,
// .jsonl.zst, .parquet), it is read here as a stream of documents, file by file in order of name,
// with memory for one document (and one page or line) at a time. Tokenizers and loaders come after.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace wt::text {

// Documents of a row group when the format has none of its own: a block of consecutive ones.
inline constexpr int64_t kRowGroupDocuments = 1024;
// No document is larger; a longer line or file is taken for a mistake.
inline constexpr int64_t kMaxDocumentBytes = int64_t{1} << 30;

struct Document {
  std::string text;       // the bytes as the file has them; not checked to be UTF-8
  std::string id;         // a JSON line's "id"; else FILE (.txt) or FILE:N, N counted from 0
  int64_t file = 0;       // place of its file in the listing; .txt files in a row count as one
  int64_t row_group = 0;  // within that file
};

class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // True and the next document, whose strings are overwritten; false after the last. After a
  // failure the reader is spent.
  virtual Result<bool> Next(Document* document) = 0;
};

// Which row groups of each file to read: those with index % step == first. For ranks that share
// the reading.
struct RowGroupStride {
  int64_t first = 0;
  int64_t step = 1;
  bool Takes(int64_t row_group) const { return row_group % step == first; }
};

enum class DocumentFormat { kText, kJsonLines, kJsonLinesZstd, kParquet };

struct DocumentFile {
  std::string path;
  DocumentFormat format;
};

// The files that `spec` names, sorted by name: a file, every document file under a folder, or those
// that match a glob. Files of other kinds in a folder or glob are passed over; when nothing is
// left, or the one file named is of another kind (.bin holds tokens, not text), the error says so.
Result<std::vector<DocumentFile>> ListDocumentFiles(const std::string& spec);

// Reads the files in their order. Requires 0 <= stride.first < stride.step. An empty file is an
// error; a null text in Parquet is passed over, an empty text is a document.
Result<std::unique_ptr<DocumentReader>> OpenDocuments(const std::string& spec,
                                                      RowGroupStride stride = {});
std::unique_ptr<DocumentReader> ReadDocumentFiles(std::vector<DocumentFile> files,
                                                  RowGroupStride stride = {});

}  // namespace wt::text
