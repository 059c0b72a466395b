// Splits, counts and pieces of a corpus, and the token files beside it.
#include "text/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.h"
#include "text/token_bin.h"

namespace wt::text {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CorpusTest : public testing::Test {
 protected:
  CorpusTest() {
    folder_ = testing::TempDir() + "/wt_corpus_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~CorpusTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }
  std::string WriteLines(const std::string& name, int from, int to) const {
    std::string lines;
    for (int i = from; i < to; ++i) lines += fmt::format("{{\"text\":\"document {}\"}}\n", i);
    return Write(name, lines);
  }

  std::string folder_;
};

CorpusSpec SpecOf(const std::string& train, SplitRule rule = SplitRule::kHash) {
  CorpusSpec spec;
  spec.name = "c", spec.train = train, spec.rule = rule;
  return spec;
}

Result<std::vector<std::string>> Drain(Result<std::unique_ptr<DocumentReader>> reader) {
  if (!reader.ok()) return reader.status();
  std::vector<std::string> texts;
  Document document;
  for (;;) {
    WT_ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&document));
    if (!more) return texts;
    texts.push_back(document.text);
  }
}

// Requires files that are there.
std::unique_ptr<DocumentReader> OpenOne(const std::string& spec) {
  return std::move(OpenDocuments(spec)).value();
}

TEST(HashSplitTest, FollowsItsWrittenRule) {
  constexpr double kU = 0.7224103542289628;  // computed with Python's hashlib from the rule's words
  EXPECT_EQ(HashSplit("abc", "s", kU + 1e-12), Split::kValidation);
  EXPECT_EQ(HashSplit("abc", "s", kU - 1e-12), Split::kTrain);
}

TEST_F(CorpusTest, HashPartsEveryDocumentOnce) {
  WriteLines("a.jsonl", 0, 1500);
  WriteLines("b.jsonl", 1000, 2000);  // 500 duplicates
  CorpusSpec spec = SpecOf(folder_);
  spec.val_fraction = 0.1;
  const auto train = Drain(ReadCorpus(spec, Split::kTrain));
  const auto val = Drain(ReadCorpus(spec, Split::kValidation));
  ASSERT_TRUE(train.ok() && val.ok());
  EXPECT_EQ(train->size() + val->size(), 2500u);
  EXPECT_NEAR(static_cast<double>(val->size()), 250, 60);
  const std::set<std::string> in_train(train->begin(), train->end());
  for (const std::string& text : *val) ASSERT_FALSE(in_train.contains(text)) << text;
}

TEST_F(CorpusTest, SaltChoosesOthers) {
  CorpusSpec spec = SpecOf(WriteLines("a.jsonl", 0, 500));
  const auto first = Drain(ReadCorpus(spec, Split::kValidation));
  EXPECT_EQ(*Drain(ReadCorpus(spec, Split::kValidation)), *first);
  spec.salt = "another";
  EXPECT_NE(*Drain(ReadCorpus(spec, Split::kValidation)), *first);
}

TEST_F(CorpusTest, StridesTogetherAreTheWhole) {
  WriteLines("a.jsonl", 0, 5000);
  const CorpusSpec spec = SpecOf(folder_);
  size_t total = 0;
  for (int64_t rank = 0; rank < 3; ++rank)
    total += Drain(ReadCorpus(spec, Split::kTrain, {rank, 3}))->size();
  EXPECT_EQ(total, Drain(ReadCorpus(spec, Split::kTrain))->size());
}

TEST_F(CorpusTest, LastFileIsValidation) {
  Write("shard_00000.txt", "train 0");
  Write("shard_00001.txt", "train 1");
  Write("shard_06542.txt", "val");
  const CorpusSpec spec = SpecOf(folder_, SplitRule::kLastFile);
  EXPECT_THAT(*Drain(ReadCorpus(spec, Split::kTrain)), ElementsAre("train 0", "train 1"));
  EXPECT_THAT(*Drain(ReadCorpus(spec, Split::kValidation)), ElementsAre("val"));
}

TEST_F(CorpusTest, LastFileNeedsTwo) {
  const CorpusSpec spec = SpecOf(Write("only.txt", "x"), SplitRule::kLastFile);
  EXPECT_THAT(ReadCorpus(spec, Split::kTrain).status().message(),
              AllOf(HasSubstr("corpus c"), HasSubstr("holds 1 file"), HasSubstr("hash")));
}

TEST_F(CorpusTest, SeparateSidesMustNotShareFiles) {
  Write("a.txt", "a");
  Write("v.txt", "v");
  CorpusSpec spec = SpecOf(folder_ + "/a*", SplitRule::kSeparate);
  spec.val = folder_ + "/v*";
  EXPECT_THAT(*Drain(ReadCorpus(spec, Split::kTrain)), ElementsAre("a"));
  EXPECT_THAT(*Drain(ReadCorpus(spec, Split::kValidation)), ElementsAre("v"));
  spec.train = folder_;
  EXPECT_THAT(ReadCorpus(spec, Split::kTrain).status().message(), HasSubstr("in both train"));
  spec.val = "";
  EXPECT_THAT(ReadCorpus(spec, Split::kTrain).status().message(), HasSubstr("needs val"));
}

TEST_F(CorpusTest, CountsAndAnEmptySide) {
  CorpusSpec spec = SpecOf(WriteLines("a.jsonl", 0, 10));
  spec.val_fraction = 0;
  const auto counts = CountCorpus(spec, Split::kTrain);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->documents, 10);
  EXPECT_EQ(counts->text_bytes, 100);
  EXPECT_EQ(counts->longest_bytes, 10);
  EXPECT_THAT(CountCorpus(spec, Split::kValidation).status().message(),
              AllOf(HasSubstr("no validation documents"), HasSubstr("val_fraction")));
  spec.val_fraction = 1.5;
  EXPECT_EQ(ReadCorpus(spec, Split::kTrain).status().code(), Code::kInvalidArgument);
}

TEST_F(CorpusTest, CutPiecesJoinToTheText) {
  Philox random(3, 0);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    while (text.size() < 1 + round * 7u) {
      static constexpr const char* kParts[] = {"word", " ", ". ", "\n", "\n\n", "é", "😀", "\xff"};
      text += kParts[random.NextBelow(8)];
    }
    const int64_t most = 16 + static_cast<int64_t>(random.NextBelow(100));
    auto reader = CutLongDocuments(OpenOne(Write("t.txt", text)), most);
    const auto pieces = Drain(std::move(reader));
    std::string joined;
    for (const std::string& piece : *pieces) {
      ASSERT_LE(static_cast<int64_t>(piece.size()), most);
      ASSERT_FALSE(piece.empty());
      joined += piece;
    }
    ASSERT_EQ(joined, text);
  }
}

TEST_F(CorpusTest, CutsPreferParagraphsAndKeepShortDocuments) {
  Write("a.txt", "First one.\n\nSecond paragraph. It is longer.");
  Write("b.txt", "short");
  auto reader = CutLongDocuments(OpenOne(folder_), 20);
  Document document;
  std::vector<std::string> seen;
  while (*reader->Next(&document))
    seen.push_back(document.id.substr(folder_.size()) + "|" + document.text);
  EXPECT_THAT(seen, ElementsAre("/a.txt#0|First one.\n\n", "/a.txt#1|Second paragraph. ",
                                "/a.txt#2|It is longer.", "/b.txt|short"));
}

TEST_F(CorpusTest, CutsNeverSplitACharacter) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "é";
  auto reader = CutLongDocuments(OpenOne(Write("t.txt", text)), 17);
  const auto pieces = Drain(std::move(reader));
  for (const std::string& piece : *pieces) EXPECT_EQ(piece.size() % 2, 0u);
}

std::string TokenBinBytes(int32_t magic, int32_t version, int32_t count, const std::string& ids) {
  std::vector<int32_t> header(256, 0);
  header[0] = magic, header[1] = version, header[2] = count;
  return std::string(reinterpret_cast<const char*>(header.data()), 1024) + ids;
}

TEST_F(CorpusTest, TokenBinOfBothWidths) {
  const auto narrow = TokenBin::Open(
      Write("a.bin", TokenBinBytes(20240520, 1, 2, std::string("\x01\x02\xff\xc3", 4))));
  ASSERT_TRUE(narrow.ok()) << narrow.status().message();
  EXPECT_EQ(narrow->size(), 2);
  EXPECT_EQ((*narrow)[0], 0x201u);
  EXPECT_EQ((*narrow)[1], 0xc3ffu);
  const auto wide = TokenBin::Open(
      Write("b.bin", TokenBinBytes(20240801, 7, 1, std::string("\x01\x02\x01\x00", 4))));
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_TRUE(wide->wide());
  EXPECT_EQ((*wide)[0], 0x10201u);
  EXPECT_TRUE(wide->CheckIds(128256).ok());
  EXPECT_THAT(wide->CheckIds(50257).message(), AllOf(HasSubstr("id 66049"), HasSubstr("50257")));
}

TEST_F(CorpusTest, TokenBinRefusesWhatDoesNotAddUp) {
  const auto open = [&](const std::string& bytes) {
    return TokenBin::Open(Write("bad.bin", bytes)).status().message();
  };
  EXPECT_THAT(open("short"), AllOf(HasSubstr("bad.bin"), HasSubstr("header of 1024")));
  EXPECT_THAT(open(TokenBinBytes(1, 1, 0, "")), HasSubstr("magic 1 version 1"));
  EXPECT_THAT(open(TokenBinBytes(20240520, 2, 0, "")), HasSubstr("version 2"));
  EXPECT_THAT(open(TokenBinBytes(20240520, 1, 3, "abcd")), HasSubstr("states 3 tokens"));
  EXPECT_THAT(open(TokenBinBytes(20240520, 1, -2, "")), HasSubstr("states -2 tokens"));
  EXPECT_THAT(open(TokenBinBytes(20240801, 7, 1, "abcd!")), HasSubstr("5 bytes follow"));
}

TEST(SplitRuleTest, NamesGoBothWays) {
  for (const char* name : {"separate", "last-file", "hash"})
    EXPECT_STREQ(SplitRuleName(*ParseSplitRule(name)), name);
  EXPECT_THAT(ParseSplitRule("random").status().message(), HasSubstr("expected separate"));
}

}  // namespace
}  // namespace wt::text
