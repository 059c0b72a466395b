// The alphabet in which tokenizer.json spells raw bytes: printable Latin-1 bytes stand for
// themselves, the other 68 for U+0100 upwards in byte order (GPT-2's byte-to-unicode map).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace wt::text {

std::string BytesToAlphabet(std::string_view bytes);

// Fails with kCorrupt when `text` has a character outside the alphabet.
Result<std::string> AlphabetToBytes(std::string_view text);

}  // namespace wt::text
