#include "text/dataset.h"

#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/text_util.h"
#include "text/bpe_train.h"
#include "text/token_bin.h"
#include "text/token_file.h"

namespace wt::text {
namespace {

// Text encoded at a time, by all threads together.
constexpr size_t kWrittenBytes = size_t{8} << 20;

bool Report(const DatasetOptions& options, const std::string& line) {
  return !options.progress || options.progress(line);
}

Status Interrupted() {
  return Error(Code::kInterrupted, "stopped while preparing the data; run again to go on");
}

bool IsTokenBin(const std::string& spec) { return spec.ends_with(".bin"); }

// What the files of one side are, for the cache key: contents are taken to be new when size or time
// is.
Result<std::string> FilesKey(const CorpusSpec& corpus, Split split) {
  WT_ASSIGN_OR_RETURN(const std::vector<DocumentFile> files, CorpusFiles(corpus, split));
  std::string key;
  for (const DocumentFile& file : files) {
    struct stat info = {};
    if (stat(file.path.c_str(), &info) != 0)
      return Error(Code::kIo, "cannot look at {}", file.path);
    key += fmt::format("{} {} {}.{}\n", std::filesystem::absolute(file.path).string(), info.st_size,
                       info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return key;
}

Result<std::string> CorpusKey(const CorpusSpec& corpus) {
  WT_ASSIGN_OR_RETURN(const std::string train, FilesKey(corpus, Split::kTrain));
  WT_ASSIGN_OR_RETURN(const std::string val, FilesKey(corpus, Split::kValidation));
  return fmt::format("{}|{}|{} {} {}", train, val, SplitRuleName(corpus.rule), corpus.val_fraction,
                     corpus.salt);
}

std::string ShortHash(const std::string& text) { return Sha256(text).substr(0, 16); }

Result<Tokenizer> TrainTokenizer(const DatasetOptions& options, const std::string& path) {
  WT_ASSIGN_OR_RETURN(auto reader, ReadCorpus(options.corpus, Split::kTrain));
  BpeTrainOptions bpe;
  bpe.vocab_size = options.vocab_size;
  bpe.max_document_chars =
      options.tokenizer_characters > 0 ? options.tokenizer_characters : bpe.max_chars;
  bpe.progress = [&](const BpeTrainProgress& p) {
    return Report(options, p.merging
                               ? fmt::format("tokenizer: {} of {} tokens", p.tokens, bpe.vocab_size)
                               : fmt::format("tokenizer: read {} characters",
                                             FormatCount(static_cast<double>(p.chars))));
  };
  Document document;
  const auto next = [&](std::string* text) -> Result<bool> {
    WT_ASSIGN_OR_RETURN(const bool more, reader->Next(&document));
    if (more) *text = document.text;
    return more;
  };
  WT_ASSIGN_OR_RETURN(Tokenizer tokenizer, TrainBpe(bpe, next));
  WT_RETURN_IF_ERROR(tokenizer.Save(path));
  return tokenizer;
}

// Writes one side's token files into `folder`, one for each source file, so that row groups stay
// those of their file.
class Tokeniser {
 public:
  Tokeniser(const DatasetOptions& options, const Tokenizer& tokenizer, std::string prefix)
      : options_(options), tokenizer_(tokenizer), prefix_(std::move(prefix)) {}

  Result<std::vector<std::string>> Run(Split split) {
    WT_ASSIGN_OR_RETURN(auto reader, ReadCorpus(options_.corpus, split));
    if (options_.max_document_bytes > 0) {
      reader = CutLongDocuments(std::move(reader), options_.max_document_bytes);
    }
    Document document;
    size_t bytes = 0;
    while (true) {
      WT_ASSIGN_OR_RETURN(const bool more, reader->Next(&document));
      if (!more) break;
      bytes += document.text.size();
      batch_.push_back(std::move(document));
      if (bytes < kWrittenBytes) continue;
      bytes = 0;
      WT_RETURN_IF_ERROR(WriteBatch());
    }
    WT_RETURN_IF_ERROR(WriteBatch());
    WT_RETURN_IF_ERROR(FinishFile());
    if (paths_.empty()) {
      return Error(Code::kCorrupt, "corpus {}: its {} side has no documents", options_.corpus.name,
                   split == Split::kTrain ? "training" : "validation");
    }
    return paths_;
  }

 private:
  Status WriteBatch() {
    std::vector<std::string_view> texts;
    for (const Document& document : batch_) texts.push_back(document.text);
    const auto ids = tokenizer_.EncodeAll(texts);
    for (size_t i = 0; i < batch_.size(); ++i) {
      WT_RETURN_IF_ERROR(Place(batch_[i]));
      WT_RETURN_IF_ERROR(writer_->AddDocument(ids[i], static_cast<int64_t>(texts[i].size())));
      total_bytes_ += texts[i].size();
    }
    batch_.clear();
    const std::string done = FormatBytes(static_cast<double>(total_bytes_));
    return Report(options_, fmt::format("tokens: {} encoded", done)) ? Status() : Interrupted();
  }

  // Opens the file and ends the row group that `document` asks for.
  Status Place(const Document& document) {
    if (writer_ && document.file != file_) WT_RETURN_IF_ERROR(FinishFile());
    if (!writer_) {
      paths_.push_back(fmt::format("{}-{:05}.tokens", prefix_, paths_.size()));
      auto writer =
          TokenFileWriter::Create(paths_.back(), {tokenizer_.vocab_size(), tokenizer_.hash(), 0});
      if (!writer.ok()) return writer.status();
      writer_.emplace(std::move(*writer));
    } else if (document.row_group != row_group_) {
      writer_->EndRowGroup();
    }
    file_ = document.file;
    row_group_ = document.row_group;
    return {};
  }

  Status FinishFile() {
    if (!writer_) return {};
    WT_RETURN_IF_ERROR(writer_->Finish());
    writer_.reset();
    return {};
  }

  const DatasetOptions& options_;
  const Tokenizer& tokenizer_;
  std::string prefix_;
  std::vector<Document> batch_;
  std::vector<std::string> paths_;
  std::optional<TokenFileWriter> writer_;
  int64_t file_ = -1, row_group_ = -1;
  size_t total_bytes_ = 0;
};

// The list of token files is written last: its presence says that all of them are whole.
Status WriteList(const std::string& path, const std::vector<std::string>& train,
                 const std::vector<std::string>& val) {
  const nlohmann::json list = {{"train", train}, {"val", val}};
  return WriteFileAtomic(path, list.dump(2) + "\n");
}

struct TokenFiles {
  std::vector<std::string> train, val;
};

std::optional<TokenFiles> ReadList(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return std::nullopt;
  const nlohmann::json list = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  TokenFiles files;
  for (auto [key, out] : {std::pair{"train", &files.train}, std::pair{"val", &files.val}}) {
    if (!list.is_object() || !list.contains(key) || !list[key].is_array()) return std::nullopt;
    for (const auto& entry : list[key]) {
      if (!entry.is_string() || !FileExists(entry.get<std::string>())) return std::nullopt;
      out->push_back(entry.get<std::string>());
    }
  }
  return files;
}

Result<TokenFiles> TokeniseCorpus(const DatasetOptions& options, const Tokenizer& tokenizer,
                                  const std::string& folder) {
  WT_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string list = folder + "/dataset.json";
  if (auto files = ReadList(list)) return std::move(*files);
  TokenFiles files;
  WT_ASSIGN_OR_RETURN(files.train,
                      Tokeniser(options, tokenizer, folder + "/train").Run(Split::kTrain));
  WT_ASSIGN_OR_RETURN(files.val,
                      Tokeniser(options, tokenizer, folder + "/val").Run(Split::kValidation));
  WT_RETURN_IF_ERROR(WriteList(list, files.train, files.val));
  return files;
}

Result<TokenSet> OpenBins(const std::string& spec, const Tokenizer& tokenizer) {
  WT_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ListFiles(spec));
  std::vector<std::shared_ptr<const TokenSource>> sources;
  for (const std::string& path : paths) {
    WT_ASSIGN_OR_RETURN(TokenBin opened, TokenBin::Open(path));
    const auto bin = std::make_shared<const TokenBin>(std::move(opened));
    SeparatedTokens stream;
    stream.name = path;
    stream.owner = bin;
    if (bin->wide()) {
      stream.ids = bin->u32();
    } else {
      stream.ids = bin->u16();
    }
    stream.separator = tokenizer.bos();
    stream.vocab_size = tokenizer.vocab_size();
    stream.tokenizer_hash = tokenizer.hash();
    WT_ASSIGN_OR_RETURN(auto source, MakeSeparatedSource(std::move(stream)));
    sources.push_back(std::move(source));
  }
  return TokenSet::Create(std::move(sources));
}

Result<Dataset> OpenBinDataset(const DatasetOptions& options) {
  if (options.tokenizer.empty() || options.corpus.val.empty()) {
    return Error(
        Code::kInvalidArgument,
        "{} holds tokens; set data.tokenizer to the tokenizer that made them and data.val to "
        "the validation .bin",
        options.corpus.train);
  }
  WT_ASSIGN_OR_RETURN(Tokenizer tokenizer, OpenTokenizer(options));
  WT_ASSIGN_OR_RETURN(TokenSet train, OpenBins(options.corpus.train, tokenizer));
  WT_ASSIGN_OR_RETURN(TokenSet val, OpenBins(options.corpus.val, tokenizer));
  return Dataset{std::move(tokenizer), std::move(train), std::move(val), ""};
}

}  // namespace

Result<Tokenizer> OpenTokenizer(const DatasetOptions& options) {
  if (!options.tokenizer.empty()) return Tokenizer::Load(options.tokenizer);
  WT_ASSIGN_OR_RETURN(const std::string key, CorpusKey(options.corpus));
  const std::string folder = options.cache + "/tokenizers";
  const std::string path = fmt::format("{}/{}-{}-{}.wtok", folder, ShortHash(key),
                                       options.vocab_size, options.tokenizer_characters);
  WT_RETURN_IF_ERROR(MakeFolders(folder));
  if (FileExists(path)) {
    Result<Tokenizer> cached = Tokenizer::Load(path);
    if (cached.ok()) return cached;
  }
  return TrainTokenizer(options, path);
}

Result<Dataset> OpenDataset(const DatasetOptions& options) {
  if (IsTokenBin(options.corpus.train)) return OpenBinDataset(options);
  WT_ASSIGN_OR_RETURN(Tokenizer tokenizer, OpenTokenizer(options));
  WT_ASSIGN_OR_RETURN(const std::string key, CorpusKey(options.corpus));
  const std::string folder = fmt::format(
      "{}/tokens/{}", options.cache,
      ShortHash(fmt::format("{}|{}|{}", key, tokenizer.hash(), options.max_document_bytes)));
  WT_ASSIGN_OR_RETURN(const TokenFiles files, TokeniseCorpus(options, tokenizer, folder));
  WT_ASSIGN_OR_RETURN(TokenSet train, TokenSet::Open(files.train, tokenizer.hash()));
  WT_ASSIGN_OR_RETURN(TokenSet val, TokenSet::Open(files.val, tokenizer.hash()));
  return Dataset{std::move(tokenizer), std::move(train), std::move(val), folder};
}

}  // namespace wt::text
