#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_encoder.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

const Tokenizer& Small() {
  static const Tokenizer tokenizer = SmallTokenizer();
  return tokenizer;
}

// PCRE2 pieces, each merged by the definition.
std::vector<int32_t> NaiveEncode(const Tokenizer& tokenizer, std::string_view text) {
  const auto split = Pretokenizer::Create(tokenizer.spec().pattern, Pretokenizer::Engine::kPcre);
  const auto ranks = RanksOf(tokenizer);
  std::vector<int32_t> ids;
  for (const std::string_view piece : SplitPieces(**split, text)) {
    const std::vector<int32_t> some = NaiveMerge(ranks, piece);
    ids.insert(ids.end(), some.begin(), some.end());
  }
  return ids;
}

TEST(Tokenizer, EncodesAsTheDefinitionDoes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = RandomText(seed, 200);
    ASSERT_EQ(Small().Encode(text), NaiveEncode(Small(), text)) << "seed " << seed;
  }
}

TEST(Tokenizer, EncodesInvalidTextAsTheDefinitionDoes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::string text = RandomBytes(seed, 300) + RandomText(seed, 20);
    ASSERT_EQ(Small().Encode(text), NaiveEncode(Small(), text)) << "seed " << seed;
  }
}

TEST(Tokenizer, AnyBytesComeBackAndAreCounted) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text = RandomText(seed, 30) + RandomBytes(seed, 100) + RandomText(~seed, 30);
    const std::vector<int32_t> ids = Small().Encode(text);
    ASSERT_EQ(Small().Decode(ids), text);
    int64_t bytes = 0;
    for (const int32_t id : ids) bytes += Small().token_bytes()[id];
    ASSERT_EQ(bytes, static_cast<int64_t>(text.size()));
  }
}

TEST(Tokenizer, LongRunsOfOneCharacterEncodeAndComeBack) {
  for (const char c : {'a', ' ', '=', '\n', '\xFF'}) {
    const std::string text(400'000, c);
    const std::vector<int32_t> ids = Small().Encode(text);
    EXPECT_TRUE(Small().Decode(ids) == text) << c;
  }
}

TEST(Tokenizer, EncodeAppends) {
  std::vector<int32_t> ids = {Small().bos()};
  Small().Encode("the", &ids);
  EXPECT_EQ(ids.front(), Small().bos());
  EXPECT_EQ(Small().Decode(ids), "the");
  Small().Encode("", &ids);
  EXPECT_EQ(Small().Decode(ids), "the");
}

TEST(Tokenizer, TextNeverBecomesASpecial) {
  const std::string text = "<|reserved_0|> <|bos|><|reserved_3|>";
  for (const int32_t id : Small().Encode(text)) EXPECT_FALSE(Small().IsSpecial(id));
  EXPECT_EQ(Small().Decode(Small().Encode(text)), text);
}

TEST(Tokenizer, SpecialsDecodeToNothingOrToTheirName) {
  const std::vector<int32_t> ids = {Small().bos(), 'h', 'i', Small().bos() + 1, -1, 100000};
  EXPECT_EQ(Small().Decode(ids), "hi");
  EXPECT_EQ(Small().Decode(ids, Tokenizer::Specials::kName), "<|reserved_0|>hi<|reserved_1|>");
}

TEST(Tokenizer, ContestSpecialsStandAtTheEnd) {
  const Tokenizer& t = Small();
  EXPECT_EQ(t.vocab_size(), 400);
  EXPECT_EQ(t.bos(), 396);
  EXPECT_EQ(t.SpecialId("<|reserved_3|>"), 399);
  EXPECT_EQ(t.SpecialId("<|bos|>"), -1);
  EXPECT_EQ(t.token_bytes()[399], 0);
  EXPECT_EQ(t.token_bytes()[255], 1);
  EXPECT_EQ(t.TokenBytes(399), "");
  EXPECT_EQ(t.TokenBytes(0xE9), "\xE9");
  EXPECT_EQ(t.SpecialName('a'), "");
}

TEST(Tokenizer, NanochatSpecialsHaveTheirNinePlaces) {
  TokenizerSpec spec = Small().spec();
  spec.tokens.resize(396);
  spec.special.resize(396);
  AppendSpecials(NanochatSpecials(), &spec);
  const auto made = Tokenizer::Create(spec);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->vocab_size(), 405);
  EXPECT_EQ(made->SpecialId("<|bos|>"), made->bos());
  EXPECT_EQ(made->SpecialId("<|output_end|>"), 404);
}

TEST(Tokenizer, EncodeAllEqualsEncodeOnAnyNumberOfThreads) {
  std::vector<std::string> texts;
  for (uint64_t seed = 0; seed < 40; ++seed) texts.push_back(RandomText(seed, 50));
  texts.push_back("");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const int before = Threads();
  for (const int threads : {1, 4}) {
    SetThreads(threads);
    const auto all = Small().EncodeAll(views);
    ASSERT_EQ(all.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(all[i], Small().Encode(texts[i]));
  }
  SetThreads(before);
}

TEST(Tokenizer, CreateRefusesBrokenSpecs) {
  const auto message = [](auto&& change) {
    TokenizerSpec spec = Small().spec();
    change(spec);
    return Tokenizer::Create(std::move(spec)).status().message();
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([](auto& s) { s.bos = 5; }), HasSubstr("BOS is id 5"));
  EXPECT_THAT(message([](auto& s) { s.bos = 400; }), HasSubstr("BOS is id 400"));
  EXPECT_THAT(message([](auto& s) { s.tokens[300] = ""; }), HasSubstr("token 300 has 0 bytes"));
  EXPECT_THAT(message([](auto& s) { s.tokens[300].assign(5000, 'x'); }), HasSubstr("5000 bytes"));
  EXPECT_THAT(message([](auto& s) { s.tokens[397] = "a\nb"; }), HasSubstr("control characters"));
  EXPECT_THAT(message([](auto& s) { s.tokens[397] = "\xFF"; }), HasSubstr("not UTF-8"));
  EXPECT_THAT(message([](auto& s) { s.tokens[397] = s.tokens[396]; }), HasSubstr("taken already"));
  EXPECT_THAT(message([](auto& s) { s.merges = {{1, 2}}; }), HasSubstr("takes none"));
  EXPECT_THAT(message([](auto& s) { s.special.pop_back(); }), HasSubstr("399 special marks"));
  EXPECT_THAT(message([](auto& s) { s.pattern = "none"; }), HasSubstr("no such name"));
}

TEST(PieceCache, HoldsWhatWasPutLast) {
  PieceCache cache;
  bool hit;
  for (size_t n = 1; n <= PieceCache::kMaxPieceBytes; ++n) {
    const std::string piece(n, 'x');
    PieceCache::Slot& slot = cache.Look(piece, &hit);
    EXPECT_FALSE(hit) << n;
    slot.count = static_cast<int32_t>(n);
    EXPECT_EQ(cache.Look(piece, &hit).count, static_cast<int32_t>(n));
    EXPECT_TRUE(hit) << n;
    cache.Look(piece.substr(1) + '\0', &hit);
    EXPECT_FALSE(hit) << "a zero byte is not the end of a piece; length " << n;
  }
}

TEST(PieceCache, KeysTellAllPiecesApart) {
  Philox random(9, 0);
  PieceCache cache;
  std::vector<std::string> owner(1 << 20);
  int hits = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string piece(1 + random.NextBelow(PieceCache::kMaxPieceBytes), '\0');
    for (char& c : piece) c = static_cast<char>(random.NextBelow(2));
    bool hit;
    PieceCache::Slot& slot = cache.Look(piece, &hit);
    if (hit) {
      ++hits;
      ASSERT_EQ(owner[slot.ids[0]], piece);
    } else {
      slot.ids[0] = i;
      owner[i] = piece;
    }
  }
  EXPECT_GT(hits, 1000);
}

}  // namespace
}  // namespace wt::text
