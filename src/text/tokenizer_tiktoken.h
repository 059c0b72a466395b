// tiktoken rank files, in and out: a line per token, its bytes in base64, a space, its rank. The
// file has neither the pattern nor the specials; the caller supplies both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace wt::text {

struct TiktokenImportOptions {
  std::string pattern = "nanochat";
  std::vector<std::string> specials;  // ids right after the highest rank; the first one is BOS
};

// Requires ranks 0..n-1, each once, in any order.
Result<Tokenizer> ParseTiktoken(std::string_view ranks, const TiktokenImportOptions& options);
Result<Tokenizer> ImportTiktoken(const std::string& path, const TiktokenImportOptions& options);

// Fails with kUnsupported when the tokenizer does not merge by rank with whole pieces first, or has
// a special before its last ordinary token.
Result<std::string> FormatTiktoken(const Tokenizer& tokenizer);
Status ExportTiktoken(const Tokenizer& tokenizer, const std::string& path);

}  // namespace wt::text
