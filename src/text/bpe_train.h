// Training a byte-level BPE vocabulary from a stream of documents: split into pieces, count the
// unique ones in parallel, merge greedily. Deterministic: the vocabulary depends on the documents
// and the options alone, not on threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace wt::text {

struct BpeTrainProgress {
  bool merging = false;  // false: reading and counting; true: merging
  int64_t chars = 0;     // code points counted so far
  int64_t pieces = 0;    // unique ones; known once merging
  int64_t tokens = 0;    // made so far, single bytes included
};

struct BpeTrainOptions {
  int vocab_size = 8192;                                  // specials included
  std::vector<std::string> specials = ContestSpecials();  // ids right after the merges; first = BOS
  std::string pattern = "nanochat";
  int64_t max_document_chars = 10'000;  // code points; the rest of a document is left out
  int64_t max_chars = 2'000'000'000;    // reading stops after the document that passes this
  // Called now and then on the calling thread; return false to stop with kInterrupted.
  std::function<bool(const BpeTrainProgress&)> progress;
};

// Gives one document a call; false at the end.
using DocumentSource = std::function<Result<bool>(std::string* document)>;

// Fails with kInvalidArgument when the options make no sense or the text has too few distinct pairs
// for the vocabulary, and with whatever `next` fails with.
//
// Ties: the higher count, then the smaller left id, then the smaller right id. Ids: 0..255 are the
// bytes, then tokens in the order they were made, then the specials.
Result<Tokenizer> TrainBpe(const BpeTrainOptions& options, const DocumentSource& next);

}  // namespace wt::text
