// The helpers of tokenizer_test_util.h, and a few tests of the helpers themselves.
#include <gtest/gtest.h>

#include <utility>

#include "text/pretokenizer_utf8.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

constexpr std::string_view kFragments[] = {"the",     "tokenizer",
                                           "and",     "Don't",
                                           "WE'LL",   "'s",
                                           "'S",      "'",
                                           "it's",    "a",
                                           "aaaa",    "bcd",
                                           "ab",      "abc",
                                           "0",       "7",
                                           "42",      "2024",
                                           "123456",  " ",
                                           "  ",      "   ",
                                           "\t",      "\n",
                                           "\r\n",    "\r",
                                           "\n\n",    "\v",
                                           "\f",      ".",
                                           ",",       "!?",
                                           "...\n",   "--",
                                           "=====",   "(x)",
                                           "_",       "/*",
                                           "\u00A0",  "\u2028",
                                           "\u2029",  "\u0085",
                                           "\u180E",  "\u3000",
                                           "\u200B",  "é",
                                           "ß",       "naïve",
                                           "Привет",  "мир",
                                           "日本語",  "한국",
                                           "عربي",    "हिन्दी",
                                           "e\u0301", "Ⅷ",
                                           "½",       "²",
                                           "٣٤",      "①",
                                           "😀",       "👩‍👩‍👧",
                                           "🇬🇧",      "ſ",
                                           "'ſ",      "İ",
                                           "ǅ",       "\u017F",
                                           "’s",      "K",
                                           "'l",      "'v",
                                           "'re",     "'D",
                                           "'M",      "'T",
                                           "'lL",     std::string_view("\0", 1)};

}  // namespace

std::string RandomText(uint64_t seed, int length) {
  Philox random(seed, 1);
  std::string text;
  for (int i = 0; i < length; ++i) {
    text += kFragments[random.NextBelow(std::size(kFragments))];
    if (random.NextBelow(2) == 0) text += ' ';
  }
  return text;
}

std::string RandomBytes(uint64_t seed, int length) {
  Philox random(seed, 2);
  std::string bytes;
  for (int i = 0; i < length; ++i) bytes += static_cast<char>(random.NextU32());
  return bytes;
}

DocumentSource SourceOf(std::vector<std::string> documents) {
  return [documents = std::move(documents), next = size_t{0}](std::string* out) mutable {
    if (next == documents.size()) return Result<bool>(false);
    *out = documents[next++];
    return Result<bool>(true);
  };
}

Tokenizer SmallTokenizer(int vocab_size) {
  BpeTrainOptions options;
  options.vocab_size = vocab_size;
  std::vector<std::string> documents;
  for (int i = 0; i < 20; ++i) documents.push_back(RandomText(1000 + i, 300));
  Result<Tokenizer> made = TrainBpe(options, SourceOf(std::move(documents)));
  WT_CHECK(made.ok(), "{}", made.status().message());
  return std::move(*made);
}

std::vector<int32_t> NaiveMerge(const std::map<std::string, int32_t>& ranks,
                                std::string_view piece) {
  if (const auto whole = ranks.find(std::string(piece)); whole != ranks.end())
    return {whole->second};
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  while (true) {
    size_t best = parts.size();
    int32_t best_rank = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto it = ranks.find(parts[i] + parts[i + 1]);
      if (it == ranks.end() || (best < parts.size() && it->second >= best_rank)) continue;
      best = i;
      best_rank = it->second;
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<int64_t>(best) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& part : parts) ids.push_back(ranks.at(part));
  return ids;
}

std::map<std::string, int32_t> RanksOf(const Tokenizer& tokenizer) {
  std::map<std::string, int32_t> ranks;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (!tokenizer.IsSpecial(id)) ranks[std::string(tokenizer.TokenBytes(id))] = id;
  return ranks;
}

TEST(TokenizerTestUtil, RandomTextIsValidUtf8AndBytesAreNot) {
  const std::string text = RandomText(1, 200), bytes = RandomBytes(1, 200);
  EXPECT_EQ(ValidUtf8Prefix(text), text.size());
  EXPECT_LT(ValidUtf8Prefix(bytes), bytes.size());
}

TEST(TokenizerTestUtil, NaiveMergeTakesTheLowestRankLeftmost) {
  std::map<std::string, int32_t> ranks = {{"a", 0}, {"b", 1}, {"ab", 2}, {"aa", 3}, {"aab", 4}};
  EXPECT_EQ(NaiveMerge(ranks, "aabb"), (std::vector<int32_t>{4, 1}));
  EXPECT_EQ(NaiveMerge(ranks, "aaaaa"), (std::vector<int32_t>{3, 3, 0}));
  EXPECT_EQ(NaiveMerge(ranks, "aab"), (std::vector<int32_t>{4})) << "a whole piece comes first";
}

}  // namespace wt::text
