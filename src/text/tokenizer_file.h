// The native tokenizer file as text, to and from TokenizerSpec; docs/formats/tokenizer.md describes
// it. Reading is strict: the one text that Save would write for these contents, or an error.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "text/tokenizer.h"

namespace wt::text {

std::string SerializeTokenizer(const TokenizerSpec& spec);

// Checks the format; Tokenizer::Create checks the contents.
Result<TokenizerSpec> ParseTokenizer(std::string_view text);

}  // namespace wt::text
