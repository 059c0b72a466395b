#include "text/jsonl.h"

#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace wt::text {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Reads up to `bytes` bytes; fewer only at the end of the file.
Result<size_t> ReadPiece(std::FILE* file, const std::string& path, char* out, size_t bytes) {
  const size_t n = std::fread(out, 1, bytes, file);
  if (n < bytes && std::ferror(file))
    return Error(Code::kIo, "cannot read {}: {}", path, std::strerror(errno));
  return n;
}

class PlainLines : public LineReader {
 public:
  PlainLines(std::string path, File file) : LineReader(std::move(path)), file_(std::move(file)) {}

 private:
  Status Fill(std::string* out) override {
    const size_t before = out->size();
    out->resize(before + kPieceBytes);
    auto n = ReadPiece(file_.get(), path_, out->data() + before, kPieceBytes);
    out->resize(before + (n.ok() ? *n : 0));
    return n.status();
  }

  File file_;
};

class ZstdLines : public LineReader {
 public:
  ZstdLines(std::string path, File file)
      : LineReader(std::move(path)),
        file_(std::move(file)),
        context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    input_.resize(ZSTD_DStreamInSize());
  }

 private:
  Status Fill(std::string* out) override {
    const size_t before = out->size();
    while (out->size() == before) {
      if (position_ == filled_) {
        WT_ASSIGN_OR_RETURN(filled_, ReadPiece(file_.get(), path_, input_.data(), input_.size()));
        position_ = 0;
      }
      if (filled_ == 0) return AtEnd();
      WT_RETURN_IF_ERROR(Decompress(out));
    }
    return {};
  }

  Status Decompress(std::string* out) {
    const size_t before = out->size();
    out->resize(before + kPieceBytes);
    ZSTD_inBuffer in = {input_.data(), filled_, position_};
    ZSTD_outBuffer piece = {out->data() + before, kPieceBytes, 0};
    const size_t hint = ZSTD_decompressStream(context_.get(), &piece, &in);
    out->resize(before + piece.pos);
    position_ = in.pos;
    frame_open_ = hint != 0;
    if (!ZSTD_isError(hint)) return {};
    return Error(Code::kCorrupt, "{}: is not Zstandard data, or damaged ({}); make it again", path_,
                 ZSTD_getErrorName(hint));
  }

  // What the decoder still holds is only known to be all once the frame has ended.
  Status AtEnd() const {
    if (!frame_open_) return {};
    return Error(Code::kCorrupt, "{}: its Zstandard frame is cut off; fetch or make it again",
                 path_);
  }

  File file_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context_;
  std::string input_;
  size_t position_ = 0, filled_ = 0;
  bool frame_open_ = false;
};

class JsonLinesReader : public DocumentReader {
 public:
  JsonLinesReader(std::string path, std::unique_ptr<LineReader> lines, RowGroupStride stride)
      : path_(std::move(path)), lines_(std::move(lines)), stride_(stride) {}

  Result<bool> Next(Document* document) override {
    std::string_view line;
    for (;;) {
      WT_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
      if (!more) return AtEnd();
      ++line_number_;
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      document->row_group = documents_++ / kRowGroupDocuments;
      if (stride_.Takes(document->row_group)) break;
    }
    document->id.clear();
    if (Status status = ParseJsonDocument(line, &document->text, &document->id); !status.ok()) {
      return Error(status.code(), "{}:{}: {}; expected one JSON object a line with a string text",
                   path_, line_number_, status.message());
    }
    if (document->id.empty()) document->id = fmt::format("{}:{}", path_, documents_ - 1);
    return true;
  }

 private:
  Result<bool> AtEnd() const {
    if (documents_ > 0) return false;
    return Error(Code::kCorrupt, "{}: holds no documents; expected one JSON object a line", path_);
  }

  std::string path_;
  std::unique_ptr<LineReader> lines_;
  RowGroupStride stride_;
  int64_t line_number_ = 0, documents_ = 0;
};

}  // namespace

Result<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path, bool zstd) {
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    return Error(errno == ENOENT ? Code::kNotFound : Code::kIo, "cannot open {}: {}", path,
                 std::strerror(errno));
  }
  std::unique_ptr<LineReader> lines;
  if (zstd) {
    lines = std::make_unique<ZstdLines>(path, std::move(file));
  } else {
    lines = std::make_unique<PlainLines>(path, std::move(file));
  }
  return lines;
}

Result<bool> LineReader::Next(std::string_view* line) {
  size_t end;
  while ((end = buffer_.find('\n', searched_)) == std::string::npos && !ended_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const size_t before = searched_ = buffer_.size();
    if (before > static_cast<size_t>(kMaxDocumentBytes)) {
      return Error(Code::kCapacity, "{}: has a line of over {} MiB; expected one document a line",
                   path_, kMaxDocumentBytes >> 20);
    }
    WT_RETURN_IF_ERROR(Fill(&buffer_));
    ended_ = buffer_.size() == before;
  }
  if (end == std::string::npos) {  // the last line may lack its end
    *line = std::string_view(buffer_).substr(begin_);
    begin_ = searched_ = buffer_.size();
    return !line->empty();
  }
  *line = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = searched_ = end + 1;
  return true;
}

Status ParseJsonDocument(std::string_view line, std::string* text, std::string* id) try {
  auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Error(Code::kCorrupt, "is not valid JSON");
  if (!object.is_object()) return Error(Code::kCorrupt, "is a JSON {}", object.type_name());
  const auto found = object.find("text");
  if (found == object.end()) return Error(Code::kCorrupt, "has no text");
  if (!found->is_string())
    return Error(Code::kCorrupt, "its text is a JSON {}", found->type_name());
  *text = std::move(found->get_ref<std::string&>());
  if (const auto name = object.find("id"); name != object.end()) {
    if (name->is_string()) *id = std::move(name->get_ref<std::string&>());
    if (name->is_number_integer()) *id = name->dump();
  }
  return {};
} catch (const std::exception& error) {  // out of memory
  return Error(Code::kCapacity, "cannot be parsed: {}", error.what());
}

Result<std::unique_ptr<DocumentReader>> OpenJsonLines(const std::string& path, bool zstd,
                                                      RowGroupStride stride) {
  WT_ASSIGN_OR_RETURN(auto lines, LineReader::Open(path, zstd));
  return std::unique_ptr<DocumentReader>(
      std::make_unique<JsonLinesReader>(path, std::move(lines), stride));
}

}  // namespace wt::text
