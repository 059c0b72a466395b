#include "text/corpus.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/files.h"

namespace wt::text {
namespace {

constexpr std::pair<SplitRule, const char*> kRuleNames[] = {{SplitRule::kSeparate, "separate"},
                                                            {SplitRule::kLastFile, "last-file"},
                                                            {SplitRule::kHash, "hash"}};

const char* SplitName(Split split) { return split == Split::kTrain ? "training" : "validation"; }

class HashReader : public DocumentReader {
 public:
  HashReader(std::unique_ptr<DocumentReader> reader, const CorpusSpec& spec, Split split)
      : reader_(std::move(reader)), salt_(spec.salt), fraction_(spec.val_fraction), split_(split) {}

  Result<bool> Next(Document* document) override {
    for (;;) {
      WT_ASSIGN_OR_RETURN(const bool more, reader_->Next(document));
      if (!more) return false;
      if (HashSplit(document->text, salt_, fraction_) == split_) return true;
    }
  }

 private:
  std::unique_ptr<DocumentReader> reader_;
  std::string salt_;
  double fraction_;
  Split split_;
};

// Where to cut `text`, which is longer than `max_bytes`; in [1, max_bytes].
size_t CutPoint(std::string_view text, size_t max_bytes) {
  const std::string_view head = text.substr(0, max_bytes);
  const size_t least = max_bytes / 2;  // a cut further back would make needlessly short pieces
  for (const std::string_view mark : {"\n\n", "\n", ". ", " "}) {
    const size_t at = head.rfind(mark);
    if (at != head.npos && at + mark.size() > least) return at + mark.size();
  }
  size_t at = max_bytes;
  const auto continues = [&](size_t i) { return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80; };
  while (at > max_bytes - 4 && continues(at)) --at;
  return continues(at) ? max_bytes : at;  // not UTF-8: anywhere is as good
}

class CuttingReader : public DocumentReader {
 public:
  CuttingReader(std::unique_ptr<DocumentReader> reader, size_t max_bytes)
      : reader_(std::move(reader)), max_bytes_(max_bytes) {}

  Result<bool> Next(Document* document) override {
    if (!has_rest_) {
      WT_ASSIGN_OR_RETURN(const bool more, reader_->Next(&whole_));
      if (!more) return false;
      begin_ = 0;
      piece_ = 0;
    }
    const std::string_view rest = std::string_view(whole_.text).substr(begin_);
    const size_t size = rest.size() <= max_bytes_ ? rest.size() : CutPoint(rest, max_bytes_);
    has_rest_ = size < rest.size();
    document->text = rest.substr(0, size);
    document->id = has_rest_ || piece_ > 0 ? fmt::format("{}#{}", whole_.id, piece_) : whole_.id;
    document->file = whole_.file;
    document->row_group = whole_.row_group;
    begin_ += size;
    ++piece_;
    return true;
  }

 private:
  std::unique_ptr<DocumentReader> reader_;
  size_t max_bytes_;
  Document whole_;
  size_t begin_ = 0;
  int64_t piece_ = 0;
  bool has_rest_ = false;
};

// No file may serve both sides.
Status CheckDisjoint(const CorpusSpec& spec, const std::vector<DocumentFile>& train,
                     const std::vector<DocumentFile>& val) {
  std::set<std::string> seen;
  for (const DocumentFile& file : train) seen.insert(file.path);
  for (const DocumentFile& file : val) {
    if (!seen.contains(file.path)) continue;
    return Error(Code::kInvalidArgument,
                 "corpus {}: {} is in both train ({}) and val ({}); name different files",
                 spec.name, file.path, spec.train, spec.val);
  }
  return {};
}

Result<std::vector<DocumentFile>> SeparateFiles(const CorpusSpec& spec, Split split) {
  if (spec.val.empty()) {
    return Error(Code::kInvalidArgument,
                 "corpus {}: split rule separate needs val; name its files, or use hash",
                 spec.name);
  }
  WT_ASSIGN_OR_RETURN(auto train, ListDocumentFiles(spec.train));
  WT_ASSIGN_OR_RETURN(auto val, ListDocumentFiles(spec.val));
  WT_RETURN_IF_ERROR(CheckDisjoint(spec, train, val));
  return split == Split::kTrain ? std::move(train) : std::move(val);
}

Result<std::vector<DocumentFile>> LastFileApart(const CorpusSpec& spec, Split split) {
  WT_ASSIGN_OR_RETURN(auto files, ListDocumentFiles(spec.train));
  if (files.size() < 2) {
    return Error(Code::kInvalidArgument,
                 "corpus {}: {} holds 1 file, and split rule last-file needs 2; fetch another "
                 "shard, or use hash",
                 spec.name, spec.train);
  }
  if (split == Split::kTrain) {
    files.pop_back();
  } else {
    files.erase(files.begin(), files.end() - 1);
  }
  return files;
}

}  // namespace

Result<SplitRule> ParseSplitRule(const std::string& name) {
  for (const auto& [rule, rule_name] : kRuleNames)
    if (name == rule_name) return rule;
  return Error(Code::kInvalidArgument, "split rule {}; expected separate, last-file or hash", name);
}

const char* SplitRuleName(SplitRule rule) {
  for (const auto& [known, name] : kRuleNames)
    if (rule == known) return name;
  return "?";
}

Split HashSplit(const std::string& text, const std::string& salt, double fraction) {
  const std::string hex = Sha256(salt + ":" + Sha256(text)).substr(0, 16);
  uint64_t bits = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  return static_cast<double>(bits) * 0x1p-64 < fraction ? Split::kValidation : Split::kTrain;
}

Result<std::vector<DocumentFile>> CorpusFiles(const CorpusSpec& spec, Split split) {
  switch (spec.rule) {
    case SplitRule::kSeparate:
      return SeparateFiles(spec, split);
    case SplitRule::kLastFile:
      return LastFileApart(spec, split);
    case SplitRule::kHash:
      break;
  }
  if (!(spec.val_fraction >= 0 && spec.val_fraction <= 1)) {
    return Error(Code::kInvalidArgument, "corpus {}: val_fraction {}; expected 0 to 1", spec.name,
                 spec.val_fraction);
  }
  return ListDocumentFiles(spec.train);
}

Result<std::unique_ptr<DocumentReader>> ReadCorpus(const CorpusSpec& spec, Split split,
                                                   RowGroupStride stride) {
  WT_ASSIGN_OR_RETURN(auto files, CorpusFiles(spec, split));
  auto reader = ReadDocumentFiles(std::move(files), stride);
  if (spec.rule == SplitRule::kHash)
    reader = std::make_unique<HashReader>(std::move(reader), spec, split);
  return reader;
}

Result<CorpusCounts> CountCorpus(const CorpusSpec& spec, Split split) {
  CorpusCounts counts;
  WT_ASSIGN_OR_RETURN(const auto files, CorpusFiles(spec, split));
  counts.files = static_cast<int64_t>(files.size());
  WT_ASSIGN_OR_RETURN(auto reader, ReadCorpus(spec, split));
  Document document;
  for (;;) {
    WT_ASSIGN_OR_RETURN(const bool more, reader->Next(&document));
    if (!more) break;
    const auto bytes = static_cast<int64_t>(document.text.size());
    ++counts.documents;
    counts.text_bytes += bytes;
    counts.longest_bytes = std::max(counts.longest_bytes, bytes);
  }
  if (counts.documents > 0) return counts;
  return Error(Code::kCorrupt,
               "corpus {}: no {} documents in {}; add documents, or change val_fraction ({})",
               spec.name, SplitName(split), spec.train, spec.val_fraction);
}

std::unique_ptr<DocumentReader> CutLongDocuments(std::unique_ptr<DocumentReader> reader,
                                                 int64_t max_bytes) {
  WT_CHECK(max_bytes >= 16, "pieces of {} bytes", max_bytes);
  return std::make_unique<CuttingReader>(std::move(reader), static_cast<size_t>(max_bytes));
}

}  // namespace wt::text
