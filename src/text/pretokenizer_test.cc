#include "text/pretokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<std::string>;

Pieces Split(std::string_view text, std::string_view pattern = "nanochat",
             Pretokenizer::Engine engine = Pretokenizer::Engine::kFastest) {
  const auto made = Pretokenizer::Create(pattern, engine);
  EXPECT_TRUE(made.ok()) << made.status().message();
  const auto views = SplitPieces(**made, text);
  return {views.begin(), views.end()};
}

Pieces SplitPcre(std::string_view text, std::string_view pattern = "nanochat") {
  return Split(text, pattern, Pretokenizer::Engine::kPcre);
}

TEST(Pretokenizer, WordsKeepTheBlankBeforeThem) {
  EXPECT_THAT(Split("Hello world"), ElementsAre("Hello", " world"));
  EXPECT_THAT(Split("a  b   c"), ElementsAre("a", " ", " b", "  ", " c"));
  EXPECT_THAT(Split("\tx"), ElementsAre("\tx"));
  EXPECT_THAT(Split("(x"), ElementsAre("(x"));
}

TEST(Pretokenizer, ContractionsInBothCases) {
  EXPECT_THAT(Split("Don't WE'LL I'Ve"), ElementsAre("Don", "'t", " WE", "'LL", " I", "'Ve"));
  EXPECT_THAT(Split("'tis"), ElementsAre("'t", "is"));
  EXPECT_THAT(Split("'hello"), ElementsAre("'hello"));
  EXPECT_THAT(Split("x'l x'v"), ElementsAre("x", "'l", " x", "'v"));
  EXPECT_THAT(Split("\u2019s"), ElementsAre("\u2019s")) << "only the ASCII apostrophe contracts";
}

TEST(Pretokenizer, LongSFoldsToS) {
  EXPECT_THAT(Split("a'\u017Fb"), ElementsAre("a", "'\u017F", "b"));
  EXPECT_EQ(Split("a'\u017Fb"), SplitPcre("a'\u017Fb"));
}

TEST(Pretokenizer, NumbersGoInTwos) {
  EXPECT_THAT(Split("12345"), ElementsAre("12", "34", "5"));
  EXPECT_THAT(Split(" 7"), ElementsAre(" ", "7"));
  EXPECT_THAT(Split("x1y"), ElementsAre("x", "1", "y"));
  EXPECT_THAT(Split("\u2167\u00BD\u00B2"), ElementsAre("\u2167\u00BD", "\u00B2")) << "Nl and No";
  EXPECT_THAT(Split("12345", "cl100k"), ElementsAre("123", "45"));
  EXPECT_THAT(Split("123", "qwen2"), ElementsAre("1", "2", "3"));
}

TEST(Pretokenizer, PunctuationTakesOneBlankBeforeAndLineEndsAfter) {
  EXPECT_THAT(Split("a ...\r\n\nb"), ElementsAre("a", " ...\r\n\n", "b"));
  EXPECT_THAT(Split("a  !"), ElementsAre("a", " ", " !"));
  EXPECT_THAT(Split("\t!"), ElementsAre("\t", "!"));
}

TEST(Pretokenizer, WhitespaceRunsEndAtTheirLastLineEnd) {
  EXPECT_THAT(Split("a \n \r\n  b"), ElementsAre("a", " \n \r\n", " ", " b"));
  EXPECT_THAT(Split("a\n\n\nb"), ElementsAre("a", "\n\n\n", "b"));
  EXPECT_THAT(Split("a   "), ElementsAre("a", "   "));
  EXPECT_THAT(Split("a \n  "), ElementsAre("a", " \n", "  "));
  EXPECT_THAT(Split("a \n  ", "cl100k-possessive"), ElementsAre("a", " \n  "));
}

TEST(Pretokenizer, UnicodeBlanksAreWhitespace) {
  EXPECT_THAT(Split("a\u00A0b"), ElementsAre("a", "\u00A0b"));
  EXPECT_THAT(Split("a\u2028\u2028!"), ElementsAre("a", "\u2028", "\u2028", "!"));
  EXPECT_THAT(Split("\u3000\n"), ElementsAre("\u3000\n"));
  EXPECT_THAT(Split("a\u0085\u00851"), ElementsAre("a", "\u0085", "\u0085", "1"));
}

TEST(Pretokenizer, MongolianVowelSeparatorIsNoBlank) {
  EXPECT_THAT(Split("\u180E!"), ElementsAre("\u180E!"));
  EXPECT_THAT(SplitPcre("\u180E!"), ElementsAre("\u180E!"));
}

TEST(Pretokenizer, LettersOfAllScriptsAndEmoji) {
  EXPECT_THAT(Split("Привет, мир"), ElementsAre("Привет", ",", " мир"));
  EXPECT_THAT(Split("日本語 한국"), ElementsAre("日本語", " 한국"));
  EXPECT_THAT(Split("hi 😀😀 x"), ElementsAre("hi", " 😀😀", " x"));
  EXPECT_THAT(Split("e\u0301e"), ElementsAre("e", "\u0301e")) << "a mark is no letter";
}

TEST(Pretokenizer, InvalidBytesAreSinglePieces) {
  EXPECT_THAT(Split("ab\xFF\xFE"
                    "cd"),
              ElementsAre("ab", "\xFF", "\xFE", "cd"));
  EXPECT_THAT(Split("\xE2\x82"), ElementsAre("\xE2", "\x82")) << "cut short";
  EXPECT_THAT(Split("\xC0\x80 \xED\xA0\x80"),
              ElementsAre("\xC0", "\x80", " ", "\xED", "\xA0", "\x80"));
  EXPECT_THAT(Split("a  \xFF"), ElementsAre("a", "  ", "\xFF")) << "a run ends like a text";
}

TEST(Pretokenizer, EmptyTextHasNoPieces) { EXPECT_TRUE(Split("").empty()); }

TEST(Pretokenizer, ScannerAndPcreAgree) {
  for (const char* pattern : {"nanochat", "cl100k", "qwen2"}) {
    for (uint64_t seed = 0; seed < 150; ++seed) {
      const std::string text = RandomText(seed, 120);
      ASSERT_EQ(Split(text, pattern), SplitPcre(text, pattern)) << pattern << " seed " << seed;
    }
  }
}

TEST(Pretokenizer, ScannerAndPcreAgreeOnRandomCodePoints) {
  Philox random(7, 0);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 100; ++i) {
      // Two-byte and three-byte sequences at random; the ill-formed ones test the runs.
      const uint64_t c =
          random.NextBelow(2) == 0 ? random.NextBelow(0x300) : random.NextBelow(0x10000);
      if (c >= 0x800) text += static_cast<char>(0xE0 | c >> 12);
      if (c >= 0x800) text += static_cast<char>(0x80 | (c >> 6 & 63));
      if (c >= 0x80 && c < 0x800) text += static_cast<char>(0xC0 | c >> 6);
      text += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 63));
    }
    ASSERT_EQ(Split(text), SplitPcre(text)) << "round " << round;
  }
}

TEST(Pretokenizer, EveryPatternTilesEveryText) {
  for (const SplitPattern& pattern : SplitPatterns()) {
    const std::string text = RandomText(5, 500) + RandomBytes(5, 500);
    std::string joined;
    for (const std::string& piece : Split(text, pattern.name)) joined += piece;
    EXPECT_EQ(joined, text) << pattern.name;
  }
}

TEST(Pretokenizer, MegabytesOfOneCharacterAreOnePiece) {
  for (const char c : {'a', ' ', '!'}) {
    const std::string text(3 << 20, c);
    EXPECT_EQ(Split(text).size(), 1u) << c;
    EXPECT_EQ(SplitPcre(text).size(), 1u) << c;
    EXPECT_EQ(SplitPcre(text, "o200k").size(), 1u) << c;
  }
}

TEST(Pretokenizer, Gpt2AndO200kKnownAnswers) {
  EXPECT_THAT(Split("I'm 123 abc!", "gpt2"), ElementsAre("I", "'m", " 123", " abc", "!"));
  EXPECT_THAT(Split("I'M", "gpt2"), ElementsAre("I", "'", "M"));
  EXPECT_THAT(Split("camelCase don't", "o200k"), ElementsAre("camel", "Case", " don't"));
}

TEST(Pretokenizer, UnknownPatternsAreRefusedByName) {
  const auto made = Pretokenizer::Create("gpt5");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kUnsupported);
  EXPECT_THAT(made.status().message(), testing::HasSubstr("nanochat"));
  EXPECT_FALSE(SplitPatternByText(R"(\w+)").ok());
}

TEST(PcreSplitter, BadPatternsFailWithTheirPlace) {
  const auto made = PcreSplitter::Compile("a(b");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), testing::HasSubstr("at byte 3"));
}

TEST(PcreSplitter, GapsAndEmptyMatchesStillTile) {
  const auto splitter = PcreSplitter::Compile("b*");
  PcreSplitter::Scratch scratch;
  EXPECT_EQ((*splitter)->PieceEnd("\u00E9bb", 0, &scratch), 2u);
  EXPECT_EQ((*splitter)->PieceEnd("\u00E9bb", 2, &scratch), 4u);
}

TEST(Utf8, DecodesAndRefusesByTheStandard) {
  const auto decode = [](std::string_view s) {
    return DecodeCodePoint(s.data(), s.data() + s.size());
  };
  EXPECT_EQ(decode("\xF4\x8F\xBF\xBF").value, 0x10FFFFu);
  EXPECT_EQ(decode("\xEF\xBF\xBF").value, 0xFFFFu);
  EXPECT_EQ(decode("\xDF\xBF").value, 0x7FFu);
  for (const char* bad : {"\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xE2\x28\xA1"})
    EXPECT_EQ(decode(bad).bytes, 0) << testing::PrintToString(bad);
}

TEST(Utf8, PrefixCutsBetweenCodePoints) {
  EXPECT_EQ(CodePointPrefix("aé😀b", 2), "aé");
  EXPECT_EQ(CodePointPrefix("aé😀b", 3), "aé😀");
  EXPECT_EQ(CodePointPrefix("aé😀b", 9), "aé😀b");
  EXPECT_EQ(CodePointPrefix("\xFF\xFF\xFF", 2), "\xFF\xFF") << "a stray byte counts as one";
  EXPECT_EQ(CodePointPrefix("abc", 0), "");
  EXPECT_EQ(CountCodePoints("aé😀\xFF"), 4);
}

}  // namespace
}  // namespace wt::text
