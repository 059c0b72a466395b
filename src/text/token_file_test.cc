#include "text/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> DocumentOf(const TokenSource& source, int64_t document) {
  std::vector<int32_t> ids(static_cast<size_t>(source.Length(document)));
  source.Copy(document, 0, ids);
  return ids;
}

// Opens `bytes` as a token file.
Result<std::shared_ptr<const TokenFile>> OpenBytes(const std::string& bytes) {
  const std::string path = TestPath("mutated");
  std::ofstream(path, std::ios::binary) << bytes;  // not synced: thousands are tried
  auto file = TokenFile::Open(path);
  unlink(path.c_str());
  return file;
}

std::string ValidBytes(int64_t vocab = kTestVocab) {
  const std::string path =
      WriteTokens({{{1, 2, 3}, {}, {4}}, {{5, 6, 7, 8}}, {{9, 10}, {11}}}, "valid", vocab);
  const std::string bytes = ReadFile(path).value();
  unlink(path.c_str());
  return bytes;
}

// Makes the header's checksum right again after a field was changed on purpose.
std::string WithHeaderHash(std::string bytes) {
  const uint32_t crc =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), 188));
  std::memcpy(bytes.data() + 188, &crc, 4);
  return bytes;
}

template <class T>
std::string With(std::string bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

TEST(TokenFile, GivesBackWhatWasWrittenInBothWidths) {
  for (const int64_t vocab : {int64_t{65536}, int64_t{65537}}) {
    const int32_t top = static_cast<int32_t>(vocab - 1);
    const std::string path = WriteTokens({{{1, top}, {}}, {{7, 8, 9}}}, "both", vocab);
    auto file = TokenFile::Open(path, TestHash());
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->token_bytes(), vocab == 65536 ? 2 : 4);
    EXPECT_EQ((*file)->documents(), 3);
    EXPECT_EQ((*file)->tokens(), 5);
    EXPECT_EQ((*file)->raw_bytes(), 1 + top + 24);
    EXPECT_THAT(DocumentOf(**file, 0), ElementsAre(1, top));
    EXPECT_THAT(DocumentOf(**file, 1), ElementsAre());
    EXPECT_THAT(DocumentOf(**file, 2), ElementsAre(7, 8, 9));
    EXPECT_EQ((*file)->row_groups(), 2);
    EXPECT_EQ((*file)->GroupStart(1), 2);
    EXPECT_TRUE((*file)->VerifyTokens().ok());
    unlink(path.c_str());
  }
}

TEST(TokenFile, EndsRowGroupsByCountAndOnRequest) {
  const std::string path = TestPath("groups");
  auto writer = TokenFileWriter::Create(path, {kTestVocab, TestHash(), 3});
  ASSERT_TRUE(writer.ok());
  for (int32_t i = 0; i < 8; ++i) {
    WT_ASSERT_OK(writer->AddDocument(std::vector<int32_t>{i}, 1));
    if (i == 2 || i == 3) writer->EndRowGroup();  // the first is already ended by count
  }
  WT_ASSERT_OK(writer->Finish());
  auto file = TokenFile::Open(path);
  ASSERT_TRUE(file.ok());
  std::vector<int64_t> starts;
  for (int64_t g = 0; g <= (*file)->row_groups(); ++g) starts.push_back((*file)->GroupStart(g));
  EXPECT_THAT(starts, ElementsAre(0, 3, 4, 7, 8));
  unlink(path.c_str());
}

TEST(TokenFile, WritesLargeDocumentsAcrossBufferFlushes) {
  std::vector<int32_t> ids(700'000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i * 31 % kTestVocab);
  const std::string path = WriteTokens({{ids, {3}, ids}}, "large");
  auto file = TokenFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(DocumentOf(**file, 2), ids);
  EXPECT_TRUE((*file)->VerifyTokens().ok());
  unlink(path.c_str());
}

TEST(TokenFile, LeavesNothingWhenTheWriterIsDropped) {
  const std::string path = TestPath("dropped");
  {
    auto writer = TokenFileWriter::Create(path, {kTestVocab, TestHash()});
    ASSERT_TRUE(writer.ok());
    WT_ASSERT_OK(writer->AddDocument(std::vector<int32_t>{1}, 1));
  }
  EXPECT_FALSE(FileExists(path));
  EXPECT_FALSE(FileExists(path + ".tmp"));
}

TEST(TokenFile, WriterRefusesIdsAndSettingsThatMakeNoSense) {
  const std::string path = TestPath("refused");
  EXPECT_FALSE(TokenFileWriter::Create(path, {0, TestHash()}).ok());
  EXPECT_FALSE(TokenFileWriter::Create(path, {kTestVocab, "abc"}).ok());
  EXPECT_FALSE(TokenFileWriter::Create(path, {kTestVocab, TestHash(), -1}).ok());
  auto writer = TokenFileWriter::Create(path, {kTestVocab, TestHash()});
  const Status high = writer->AddDocument(std::vector<int32_t>{1, kTestVocab}, 1);
  EXPECT_THAT(high.message(), HasSubstr("document 0, token 1: id 50; expected an id in [0, 50)"));
  EXPECT_FALSE(writer->AddDocument(std::vector<int32_t>{-1}, 1).ok());
}

TEST(TokenFile, RefusesEveryTruncation) {
  const std::string bytes = ValidBytes();
  ASSERT_TRUE(OpenBytes(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(OpenBytes(bytes.substr(0, size)).status().code(), Code::kCorrupt) << size;
  }
  EXPECT_EQ(OpenBytes(bytes + "x").status().code(), Code::kCorrupt);
}

TEST(TokenFile, NoticesEveryFlippedBitAtOpenOrVerify) {
  const std::string bytes = ValidBytes();
  const size_t ids_end = 192 + 2 * 11;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    if (bit / 8 >= ids_end && bit / 8 < ids_end + 2) continue;  // padding
    std::string mutated = bytes;
    mutated[bit / 8] = static_cast<char>(mutated[bit / 8] ^ (1 << bit % 8));
    auto file = OpenBytes(mutated);
    EXPECT_FALSE(file.ok() && (*file)->VerifyTokens().ok()) << "bit " << bit;
  }
}

TEST(TokenFile, SaysWhatIsWrongWithForeignAndNewerFiles) {
  EXPECT_THAT(OpenBytes(std::string(500, 'x')).status().message(), HasSubstr("not a token file"));
  const auto newer = OpenBytes(With(ValidBytes(), 8, uint32_t{2}));
  EXPECT_EQ(newer.status().code(), Code::kUnsupported);
  EXPECT_THAT(newer.status().message(), HasSubstr("version 2; expected version 1"));
  EXPECT_EQ(TokenFile::Open(TestPath("absent")).status().code(), Code::kNotFound);
}

TEST(TokenFile, BoundsCountsThatWouldWrapAround) {
  const std::string bytes = ValidBytes();
  for (const size_t offset : {16, 24, 32, 40, 48}) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 61,
                                 uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} / 2}) {
      if (offset == 48 && value <= uint64_t{1} << 62) continue;  // raw bytes may be anything sane
      EXPECT_EQ(OpenBytes(WithHeaderHash(With(bytes, offset, value))).status().code(),
                Code::kCorrupt)
          << offset << " " << value;
    }
  }
}

TEST(TokenFile, RefusesIdsOutsideTheVocabulary) {
  const auto file = OpenBytes(With(ValidBytes(), 192 + 2 * 3, uint16_t{kTestVocab}));
  EXPECT_THAT(file.status().message(), HasSubstr("token 3 has an id outside the vocabulary of 50"));
  const auto wide = OpenBytes(With(ValidBytes(70000), 192 + 4 * 10, uint32_t{70000}));
  EXPECT_THAT(wide.status().message(), HasSubstr("token 10 has an id outside"));
}

TEST(TokenFile, RefusesIndexesThatDoNotAscendEvenWithRightChecksums) {
  const std::string bytes = ValidBytes();
  const size_t index = 192 + 24;  // document starts 0 3 3 4 8 10 11, group starts 0 3 4 6
  for (const auto& [entry, value] : std::vector<std::pair<size_t, uint64_t>>{
           {0, 1}, {1, 5}, {6, 10}, {6, ~uint64_t{0}}, {7, 1}, {8, 4}, {9, 3}, {10, 5}}) {
    std::string mutated = With(bytes, index + 8 * entry, value);
    const auto* data = reinterpret_cast<const Bytef*>(mutated.data() + index);
    mutated = With(mutated, 124, static_cast<uint32_t>(crc32_z(0, data, 8 * 11)));
    EXPECT_THAT(OpenBytes(WithHeaderHash(mutated)).status().message(), HasSubstr("does not ascend"))
        << entry << " " << value;
  }
}

TEST(TokenFile, RefusesAnotherTokenizer) {
  const std::string path = WriteTokens({{{1}}}, "tokenizer");
  const auto file = TokenFile::Open(path, TestHash('b'));
  EXPECT_EQ(file.status().code(), Code::kMismatch);
  EXPECT_THAT(file.status().message(), HasSubstr("expected " + TestHash('b')));
  EXPECT_EQ(TokenSet::Open({path}, TestHash('b')).status().code(), Code::kMismatch);
  unlink(path.c_str());
}

}  // namespace
}  // namespace wt::text
