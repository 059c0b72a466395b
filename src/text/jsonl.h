// JSON lines, plain or in Zstandard frames: one object a line with the document in `text`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "text/documents.h"

namespace wt::text {

// The lines of a file, read (and decompressed, when asked to) a piece at a time.
class LineReader {
 public:
  static Result<std::unique_ptr<LineReader>> Open(const std::string& path, bool zstd);
  virtual ~LineReader() = default;
  // True and the next line without its end; false at the end of the file. The view holds until the
  // next call. Fails on a line over kMaxDocumentBytes and on damaged or cut-off compression.
  Result<bool> Next(std::string_view* line);

 protected:
  explicit LineReader(std::string path) : path_(std::move(path)) {}
  // Appends some more bytes; none at the end of the file.
  virtual Status Fill(std::string* out) = 0;
  const std::string path_;

 private:
  std::string buffer_;
  size_t begin_ = 0, searched_ = 0;
  bool ended_ = false;
};

// Reads the string `text` of one JSON object into `text`, and `id` (a string or a whole number)
// into `id` when there is one. The error says what is wrong with the line, not where it is.
Status ParseJsonDocument(std::string_view line, std::string* text, std::string* id);

// Documents of one file. Blank lines are passed over; a file without documents is an error.
Result<std::unique_ptr<DocumentReader>> OpenJsonLines(const std::string& path, bool zstd,
                                                      RowGroupStride stride);

}  // namespace wt::text
