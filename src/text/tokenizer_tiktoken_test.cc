#include "text/tokenizer_tiktoken.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

std::string SmallRanks() { return *FormatTiktoken(SmallTokenizer()); }

std::string TiktokenError(const std::string& ranks) {
  return ParseTiktoken(ranks, {}).status().message();
}

TEST(Tiktoken, ExportThenImportIsTheSameTokenizer) {
  const Tokenizer original = SmallTokenizer();
  const std::string path = testing::TempDir() + "/tokenizer_test.tiktoken";
  ASSERT_TRUE(ExportTiktoken(original, path).ok());
  const auto again = ImportTiktoken(path, {.pattern = "nanochat", .specials = ContestSpecials()});
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->hash(), original.hash());
}

TEST(Tiktoken, Base64AsTheFilesHaveIt) {
  const std::string ranks = SmallRanks();
  EXPECT_THAT(ranks, testing::StartsWith("AA== 0\nAQ== 1\n"));
  EXPECT_THAT(ranks, HasSubstr("QQ== 65\n"));
  EXPECT_THAT(ranks, HasSubstr("/w== 255\n"));
  const auto made = ParseTiktoken(ranks + "IHRoZQAB 396\nYWJjZA== 397\n", {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->TokenBytes(396), std::string_view(" the\0\1", 6));
  EXPECT_EQ(made->TokenBytes(397), "abcd");
  EXPECT_EQ(made->bos(), -1);
}

TEST(Tiktoken, RanksMayComeInAnyOrderAndWithBlankLines) {
  const std::string ranks = SmallRanks();
  const size_t first = ranks.find('\n') + 1;
  const auto made = ParseTiktoken(ranks.substr(first) + "\n\n" + ranks.substr(0, first), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->hash(), ParseTiktoken(ranks, {})->hash());
}

TEST(Tiktoken, RanksDecideNotTheOrderOfBytes) {
  std::string ranks = SmallRanks().substr(0, SmallRanks().find(" 256\n"));
  ranks = ranks.substr(0, ranks.rfind('\n') + 1);
  // "bc" ranks before "ab", so "abc" is a + bc.
  const auto made = ParseTiktoken(ranks + "YmM= 256\nYWI= 257\n", {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->Encode("abc"), (std::vector<int32_t>{'a', 256}));
}

TEST(Tiktoken, BrokenFilesAreRefusedByLine) {
  EXPECT_THAT(TiktokenError(""), HasSubstr("no token"));
  EXPECT_THAT(TiktokenError("AA== 0\nAQ== \n"), HasSubstr("line 2: given \"AQ== \""));
  EXPECT_THAT(TiktokenError("AA==\n"), HasSubstr("line 1"));
  EXPECT_THAT(TiktokenError("A=== 0\n"), HasSubstr("line 1"));
  EXPECT_THAT(TiktokenError("A 0\n"), HasSubstr("line 1"));
  EXPECT_THAT(TiktokenError("AA== 0x\n"), HasSubstr("line 1"));
  EXPECT_THAT(TiktokenError("AA== -1\n"), HasSubstr("rank -1"));
  EXPECT_THAT(TiktokenError("AA== 99999999\n"), HasSubstr("rank 99999999"));
  EXPECT_THAT(TiktokenError("AA== 0\nAQ== 0\n"),
              HasSubstr("line 2: rank 0 stands on an earlier line"));
  EXPECT_THAT(TiktokenError("AA== 0\nAQ== 2\n"), HasSubstr("rank 1 is missing"));
  EXPECT_THAT(TiktokenError(SmallRanks() + "QQ== 396\n"), HasSubstr("duplicate token"));
}

TEST(Tiktoken, ExportRefusesWhatTheFormatCannotSay) {
  const auto error = [](const TokenizerSpec& spec) {
    const auto made = Tokenizer::Create(spec);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return FormatTiktoken(*made).status().message();
  };
  TokenizerSpec spec = SmallTokenizer().spec();
  spec.whole_piece_first = false;
  EXPECT_THAT(error(spec), HasSubstr("merges by rank"));
  spec.rule = MergeRule::kByList;
  spec.whole_piece_first = true;
  EXPECT_THAT(error(spec), HasSubstr("merges by rank"));
  spec = SmallTokenizer().spec();
  spec.tokens.push_back("a new token");
  spec.special.push_back(false);
  EXPECT_THAT(error(spec), HasSubstr("stands before ordinary tokens"));
}

}  // namespace
}  // namespace wt::text
