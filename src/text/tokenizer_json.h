// tokenizer.json of Hugging Face's tokenizers library, in and out: byte-level BPE only. An import
// encodes ordinary text to the ids the library gives without special tokens; whatever in a file
// would make that untrue is refused by the name of its field.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "text/tokenizer.h"

namespace wt::text {

struct JsonImportOptions {
  // Name of the added token that begins a document; "" takes the first of <|bos|>,
  // <|begin_of_text|>, <|endoftext|>, <|reserved_0|>, <s>, <bos> that the file has, or none.
  std::string bos;
};

Result<Tokenizer> ParseTokenizerJson(std::string_view json, const JsonImportOptions& options = {});
Result<Tokenizer> ImportTokenizerJson(const std::string& path,
                                      const JsonImportOptions& options = {});

// Merging by rank is written as the list of all splits of every token into two tokens, in order of
// the token's id, which merges the same way.
std::string FormatTokenizerJson(const Tokenizer& tokenizer);
Status ExportTokenizerJson(const Tokenizer& tokenizer, const std::string& path);

}  // namespace wt::text
