// Dataset: a corpus made ready for training - its tokenizer and the token files of both sides - cached by what
// went into it. The last step of data preparation; loaders read the token sets it gives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "text/corpus.h"
#include "text/token_source.h"
#include "text/tokenizer.h"

namespace wt::text {

struct DatasetOptions {
  CorpusSpec corpus;           // text, or llm.c-style .bin token files (then `tokenizer` must be given)
  std::string tokenizer;       // a file; empty: trained on the corpus's training side
  int vocab_size = 8192;       // of a tokenizer trained here, specials included
  int64_t max_document_bytes = 0;  // documents are cut at paragraph ends to at most this; 0: whole
  std::string cache;           // folder for tokenizers and token files
  // One line now and then on long work; return false to stop with kInterrupted.
  std::function<bool(const std::string& line)> progress;
};

struct Dataset {
  Tokenizer tokenizer;
  TokenSet train, val;
  std::string folder;  // of the token files
};

// Trains and tokenises what is not in the cache for these very files (path, size, time of change) and
// options; otherwise opens it in a moment. An interrupted run leaves whole files or none.
Result<Dataset> OpenDataset(const DatasetOptions& options);

// Only the tokenizer, likewise.
Result<Tokenizer> OpenTokenizer(const DatasetOptions& options);

}  // namespace wt::text
