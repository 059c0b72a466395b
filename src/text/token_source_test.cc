#include "text/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<PlainDocument> DocumentsOf(const TokenSource& source) {
  std::vector<PlainDocument> documents;
  for (int64_t d = 0; d < source.documents(); ++d) {
    documents.emplace_back(static_cast<size_t>(source.Length(d)));
    source.Copy(d, 0, documents.back());
  }
  return documents;
}

SeparatedTokens StreamOf(const std::vector<uint16_t>& ids) {
  SeparatedTokens stream;
  stream.name = "stream.bin";
  stream.ids = std::span(ids);
  stream.separator = 9;
  stream.vocab_size = 10;
  stream.group_documents = 2;
  return stream;
}

TEST(SeparatedSource, OpeningAndClosingSeparatorsReadAlike) {
  const PlainDocument a{1, 2}, b{3}, empty;
  const auto documents = [](const std::vector<uint16_t>& ids) {
    return DocumentsOf(**MakeSeparatedSource(StreamOf(ids)));
  };
  EXPECT_THAT(documents({9, 1, 2, 9, 3}), ElementsAre(a, b));
  EXPECT_THAT(documents({1, 2, 9, 3, 9}), ElementsAre(a, b));
  EXPECT_THAT(documents({9, 1, 2, 9, 9, 3}), ElementsAre(a, empty, b));
  EXPECT_THAT(documents({}), ElementsAre());
  EXPECT_THAT(documents({9}), ElementsAre());
  EXPECT_THAT(documents({3}), ElementsAre(b));
}

TEST(SeparatedSource, GroupsAndCountsDocuments) {
  const std::vector<uint32_t> ids{9, 1, 2, 9, 3, 9, 4, 5, 6};
  SeparatedTokens stream = StreamOf({});
  stream.ids = std::span(ids);
  const auto source = MakeSeparatedSource(std::move(stream));
  EXPECT_EQ((*source)->tokens(), 6);
  EXPECT_EQ((*source)->row_groups(), 2);
  EXPECT_EQ((*source)->GroupStart(1), 2);
  EXPECT_EQ((*source)->GroupStart(2), 3);
  std::vector<int32_t> tail(2);
  (*source)->Copy(2, 1, tail);
  EXPECT_THAT(tail, ElementsAre(5, 6));
}

TEST(SeparatedSource, RefusesBadIdsAndSettings) {
  const std::vector<uint16_t> ids{9, 1, 10};
  EXPECT_THAT(MakeSeparatedSource(StreamOf(ids)).status().message(),
              HasSubstr("token 2 is outside the vocabulary of 10"));
  SeparatedTokens stream = StreamOf({});
  stream.separator = 10;
  EXPECT_FALSE(MakeSeparatedSource(std::move(stream)).ok());
}

TEST(TokenSet, CountsOverFilesAndRefusesMixedVocabularies) {
  const TokenSet set = SetOf({{{{1, 2}}, {{3}}}, {{{4, 5}, {}}}});
  EXPECT_EQ(set.documents(), 4);
  EXPECT_EQ(set.row_groups(), 3);
  EXPECT_EQ(set.tokens(), 5);
  EXPECT_EQ(set.raw_bytes(), 15);
  const std::string other = WriteTokens({{{1}}}, "other", kTestVocab + 1);
  const auto mixed = TokenSet::Create({set.sources()[0], *TokenFile::Open(other)});
  EXPECT_EQ(mixed.status().code(), Code::kMismatch);
  EXPECT_EQ(TokenSet::Open({}).status().code(), Code::kInvalidArgument);
  unlink(other.c_str());
}

TEST(FirstAtLeast, FindsTheFirstAcrossChunks) {
  std::vector<uint16_t> ids((3 << 20) + 5, 7);
  EXPECT_EQ(FirstAtLeast(ids, 8), -1);
  EXPECT_EQ(FirstAtLeast(ids, 1 << 16), -1);
  ids[(2 << 20) + 3] = 9;
  ids.back() = 8;
  EXPECT_EQ(FirstAtLeast(ids, 8), (2 << 20) + 3);
  ids[(2 << 20) + 3] = 7;
  EXPECT_EQ(FirstAtLeast(ids, 8), static_cast<int64_t>(ids.size()) - 1);
}

}  // namespace
}  // namespace wt::text
