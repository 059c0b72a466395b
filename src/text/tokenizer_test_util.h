// Texts and slow, plain twins that the tokenizer's tests share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/bpe_train.h"
#include "text/tokenizer.h"

namespace wt::text {

// `length` fragments drawn from words, contractions, numbers, blanks, line ends, emoji and letters
// of many scripts: everything the split pattern tells apart.
std::string RandomText(uint64_t seed, int length);

// Uniform bytes; hardly ever valid UTF-8.
std::string RandomBytes(uint64_t seed, int length);

// Documents of a vector, for TrainBpe.
DocumentSource SourceOf(std::vector<std::string> documents);

// A tokenizer of `vocab_size` trained on a fixed random text.
Tokenizer SmallTokenizer(int vocab_size = 400);

// Byte-level BPE over one piece as its definition reads: a vector of strings, a full search for the
// lowest rank before every merge. `ranks` maps a token's bytes to its id.
std::vector<int32_t> NaiveMerge(const std::map<std::string, int32_t>& ranks,
                                std::string_view piece);

std::map<std::string, int32_t> RanksOf(const Tokenizer& tokenizer);

}  // namespace wt::text
