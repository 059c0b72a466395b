// A corpus: documents for training, documents for validation, and the rule that keeps them apart.
// Between the files (documents.h) and everyone who asks for "the training text of NAME".
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "text/documents.h"

namespace wt::text {

enum class Split { kTrain, kValidation };

enum class SplitRule {
  kSeparate,  // `val` names the validation documents
  kLastFile,  // the last file by name is validation, the rest training (nanochat's rule)
  kHash,      // validation is chosen by a hash of the document's text
};

struct CorpusSpec {
  std::string name;
  std::string train;  // what OpenDocuments takes
  std::string val;    // for kSeparate
  SplitRule rule = SplitRule::kHash;
  double val_fraction = 0.04;  // for kHash: the share of documents, in [0, 1]
  std::string salt;            // for kHash: another salt, another choice
};

// "separate", "last-file" or "hash".
Result<SplitRule> ParseSplitRule(const std::string& name);
const char* SplitRuleName(SplitRule rule);

// Which side a text falls on by kHash: u < fraction is validation, where u is the first 16
// hexadecimal digits of sha256(salt + ":" + sha256_hex(text)), as a number divided by 2^64. Exact
// duplicates therefore fall on the same side, whatever their file.
Split HashSplit(const std::string& text, const std::string& salt, double fraction);

// The files that hold `split`'s documents; by kHash both splits are in the same files. Fails when
// a side would be empty for want of files, or when a spec names files of both sides.
Result<std::vector<DocumentFile>> CorpusFiles(const CorpusSpec& spec, Split split);

// The documents of one side, in order of file name and place. `stride` as in OpenDocuments: it
// counts the row groups as they stand in the files, before the hash takes its share.
Result<std::unique_ptr<DocumentReader>> ReadCorpus(const CorpusSpec& spec, Split split,
                                                   RowGroupStride stride = {});

struct CorpusCounts {
  int64_t documents = 0;
  int64_t text_bytes = 0;
  int64_t longest_bytes = 0;
  int64_t files = 0;
};

// Reads one side to its end and counts. kCorrupt when it holds no documents.
Result<CorpusCounts> CountCorpus(const CorpusSpec& spec, Split split);

// Passes on the documents of `reader`, those of more than `max_bytes` cut into pieces of at most
// that, each at its last paragraph end, line end, sentence end or blank, in this order of
// preference, never within a UTF-8 sequence. Nothing is dropped: the pieces joined are the text.
// Best-fit packing throws away what does not fit a row, so whole books must pass through here
// first. Requires max_bytes >= 16.
std::unique_ptr<DocumentReader> CutLongDocuments(std::unique_ptr<DocumentReader> reader,
                                                 int64_t max_bytes);

}  // namespace wt::text
