#include "text/tokenizer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

const Tokenizer& SmallSaved() {
  static const Tokenizer tokenizer = SmallTokenizer();
  return tokenizer;
}

const std::string& SmallFile() {
  static const std::string text = SerializeTokenizer(SmallSaved().spec());
  return text;
}

// With the checksum that belongs to the changed contents, to reach the checks behind it.
std::string WithHash(std::string text) {
  const size_t line = text.rfind("\nsha256 ");
  if (line == std::string::npos) return text;
  text.resize(line + 1);
  return text + "sha256 " + Sha256(text) + "\n";
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Status Check(const std::string& text) {
  Result<TokenizerSpec> spec = ParseTokenizer(text);
  return spec.ok() ? Tokenizer::Create(std::move(*spec)).status() : spec.status();
}

TEST(TokenizerFile, SaveAndLoadGiveTheSameTokenizer) {
  const std::string path = testing::TempDir() + "/tokenizer_file_test.wtok";
  ASSERT_TRUE(SmallSaved().Save(path).ok());
  const auto loaded = Tokenizer::Load(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->hash(), SmallSaved().hash());
  EXPECT_EQ(loaded->hash(), *Sha256OfFile(path));
  EXPECT_EQ(loaded->bos(), SmallSaved().bos());
  EXPECT_EQ(loaded->token_bytes(), SmallSaved().token_bytes());
  const std::string text = RandomText(1, 200);
  EXPECT_EQ(loaded->Encode(text), SmallSaved().Encode(text));
}

TEST(TokenizerFile, ListedMergesAreKept) {
  TokenizerSpec spec = SmallSaved().spec();
  spec.rule = MergeRule::kByList;
  spec.whole_piece_first = false;
  spec.merges = {{'t', 'h'}};
  spec.tokens[256] = "th";
  const auto again = ParseTokenizer(SerializeTokenizer(spec));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->merges, spec.merges);
  EXPECT_EQ(again->rule, MergeRule::kByList);
  EXPECT_FALSE(again->whole_piece_first);
}

TEST(TokenizerFile, MissingFilesAreNotFound) {
  const auto loaded = Tokenizer::Load("/nonexistent/tokenizer.wtok");
  EXPECT_EQ(loaded.status().code(), Code::kNotFound);
}

TEST(TokenizerFile, LoadNamesTheFileInItsErrors) {
  const std::string path = testing::TempDir() + "/tokenizer_file_test_bad.wtok";
  ASSERT_TRUE(WriteFileAtomic(path, "{\"model\": {}}").ok());
  const Status status = Tokenizer::Load(path).status();
  EXPECT_THAT(status.message(), HasSubstr(path));
  EXPECT_THAT(status.message(), HasSubstr("import a tokenizer.json"));
}

TEST(TokenizerFile, TruncationAtEveryLineAndInsideLinesIsCorrupt) {
  const std::string& text = SmallFile();
  for (size_t size = 0; size < text.size(); size += 1 + size / 50)
    ASSERT_EQ(Check(text.substr(0, size)).code(), Code::kCorrupt) << size;
  EXPECT_THAT(Check(text.substr(0, text.size() / 2)).message(), HasSubstr("truncated"));
  EXPECT_EQ(Check(text.substr(0, text.size() - 1)).code(), Code::kCorrupt);
}

TEST(TokenizerFile, EachKindOfDamageHasItsMessage) {
  const auto message = [](std::string_view from, std::string_view to) {
    return Check(WithHash(Replaced(SmallFile(), from, to))).message();
  };
  EXPECT_THAT(message("windtunnel", "windtunne1"), HasSubstr("not a tokenizer file"));
  EXPECT_THAT(message("tokenizer 1\n", "tokenizer 2\n"), HasSubstr("version \"2\""));
  EXPECT_THAT(message("{1,2}", "{1,9}"), HasSubstr("not one this build reproduces"));
  EXPECT_THAT(message("merge rank", "merge rang"), HasSubstr("expected rank or list"));
  EXPECT_THAT(message("bos 396", "bos 12"), HasSubstr("BOS is id 12"));
  EXPECT_THAT(message("bos 396", "boss 396"), HasSubstr("expected \"bos …\""));
  EXPECT_THAT(message("vocab 400", "vocab 12"), HasSubstr("vocab from 256"));
  EXPECT_THAT(message("vocab 400", "vocab 99999999999999999999"), HasSubstr("vocab from 256"));
  EXPECT_THAT(message("vocab 400", "vocab 401"), HasSubstr("\"b HEX\""));
  EXPECT_THAT(message("vocab 400", "vocab 399"), HasSubstr("expected \"merges …\""));
  EXPECT_THAT(message("b 41\n", "b 42\n"), HasSubstr("duplicate token"));
  EXPECT_THAT(message("b 41\n", "b 4141\n"), HasSubstr("byte 0x41 has no token"));
  EXPECT_THAT(message("b 41\n", "b 4x\n"), HasSubstr("\"b HEX\""));
  EXPECT_THAT(message("b 41\n", "b 4\n"), HasSubstr("\"b HEX\""));
  EXPECT_THAT(message("b 41\n", "b \n"), HasSubstr("has 0 bytes"));
  EXPECT_THAT(message("b 6a\n", "b 6A\n"), HasSubstr("\"b HEX\""));
  EXPECT_THAT(message("merges 0", "merges 00"), HasSubstr("checksum"));
  EXPECT_THAT(message("merges 0", "merges 1"), HasSubstr("two token ids"));
  EXPECT_THAT(message("reserved_1", "reserved_0"), HasSubstr("taken already"));
}

TEST(TokenizerFile, AChangedByteFailsTheChecksum) {
  EXPECT_THAT(Check(Replaced(SmallFile(), "reserved_2", "reserved_7")).message(),
              HasSubstr("checksum"));
  EXPECT_THAT(Check(SmallFile() + "\n").message(), HasSubstr("after the checksum"));
}

// Whatever a mutation yields, it is refused or it is a working tokenizer.
TEST(TokenizerFile, RandomMutationsNeverCrash) {
  Philox random(21, 0);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = SmallFile();
    for (uint64_t edits = 1 + random.NextBelow(3); edits > 0; --edits) {
      // Half of the edits hit the head, where the structure is.
      const size_t at = random.NextBelow(random.NextBelow(2) == 0 ? 300 : text.size());
      const uint64_t kind = random.NextBelow(4);
      if (kind == 0) text[at] = static_cast<char>(random.NextU32());
      if (kind == 1) text.erase(at, 1 + random.NextBelow(20));
      if (kind == 2) text.insert(at, text.substr(random.NextBelow(text.size()), 20));
      if (kind == 3) text[at] = static_cast<char>('0' + random.NextBelow(10));
    }
    Result<TokenizerSpec> spec = ParseTokenizer(random.NextBelow(4) == 0 ? text : WithHash(text));
    if (!spec.ok()) continue;
    const auto made = Tokenizer::Create(std::move(*spec));
    if (!made.ok()) continue;
    ++accepted;
    ASSERT_EQ(made->Decode(made->Encode("The end. \xFF")), "The end. \xFF");
  }
  EXPECT_LT(accepted, 1500);
}

}  // namespace
}  // namespace wt::text
