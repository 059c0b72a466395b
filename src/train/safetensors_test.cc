#include "train/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

using ::testing::HasSubstr;

// The bytes of a file with this header and so many bytes of data, put together by hand.
std::string FileOf(const std::string& header, size_t data_bytes) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string ErrorOf(const std::string& header, size_t data_bytes) {
  const auto index = ParseSafetensors(FileOf(header, data_bytes));
  return index.ok() ? "ok" : index.status().message();
}

Status WriteSample(const std::string& path) {
  const float weights[6] = {1, 2, 3, 4, 5, 6};
  const uint8_t bytes[3] = {7, 8, 9};
  const int64_t step = -5;
  auto writer = SafetensorsWriter::Create(path,
                                          {{"bytes", DType::kU8, {3}},
                                           {"weights", DType::kF32, {2, 3}},
                                           {"step", DType::kI64, {}},
                                           {"empty", DType::kBF16, {0, 4}}},
                                          {{"format", "pt"}});
  if (!writer.ok()) return writer.status();
  WT_RETURN_IF_ERROR(writer->Append(&step, 8));
  WT_RETURN_IF_ERROR(writer->Append(weights, 12));  // in two pieces
  WT_RETURN_IF_ERROR(writer->Append(weights + 3, 12));
  WT_RETURN_IF_ERROR(writer->Append(bytes, 3));
  return writer->Commit();
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  TempFolder folder;
  ASSERT_TRUE(WriteSample(folder / "t.safetensors").ok());
  const auto file = SafetensorsFile::Open(folder / "t.safetensors");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->tensors().size(), 4u);
  const auto* weights = file->Find("weights");
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(weights->info.shape, (std::vector<int64_t>{2, 3}));
  float last;
  std::memcpy(&last, weights->data.data() + 20, 4);
  EXPECT_EQ(last, 6.0f);
  EXPECT_EQ(file->Find("bytes")->data[2], std::byte{9});
  EXPECT_EQ(file->Find("empty")->data.size(), 0u);
  EXPECT_EQ(file->Find("other"), nullptr);
}

// Read by hand, by the format's description alone.
TEST(Safetensors, HeaderIsAsTheFormatSays) {
  TempFolder folder;
  ASSERT_TRUE(WriteSample(folder / "t.safetensors").ok());
  const std::string bytes = *ReadFile(folder / "t.safetensors");
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 35);
  EXPECT_EQ(
      bytes.substr(8, length).substr(0, bytes.substr(8, length).find_last_not_of(' ') + 1),
      R"({"__metadata__":{"format":"pt"},"step":{"dtype":"I64","shape":[],)"
      R"("data_offsets":[0,8]},"weights":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
      R"("empty":{"dtype":"BF16","shape":[0,4],"data_offsets":[32,32]},)"
      R"("bytes":{"dtype":"U8","shape":[3],"data_offsets":[32,35]}})");
}

TEST(Safetensors, NothingIsVisibleBeforeCommit) {
  TempFolder folder;
  {
    auto writer = SafetensorsWriter::Create(folder / "t", {{"a", DType::kU8, {1}}});
    ASSERT_TRUE(writer.ok());
  }
  EXPECT_FALSE(FileExists(folder / "t"));
  EXPECT_FALSE(FileExists(folder / "t.tmp"));
  EXPECT_THAT(SafetensorsWriter::Create(folder / "t", {{"a", DType::kU8, {1}}, {"a", {}, {}}})
                  .status()
                  .message(),
              HasSubstr("name a is given twice"));
}

TEST(Safetensors, RefusesWhatTheFormatForbids) {
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_EQ(ErrorOf("{" + a + "}", 8), "ok");
  EXPECT_THAT(ErrorOf("{" + a + "}", 7), HasSubstr("describes 8 bytes of data, the file has 7"));
  EXPECT_THAT(ErrorOf("{" + a + "}", 9), HasSubstr("the file has 9"));
  EXPECT_THAT(ErrorOf("{" + a + "," + a + "}", 8), HasSubstr("has a twice"));
  EXPECT_THAT(ErrorOf("{" + a + R"(,"b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}})", 12),
              HasSubstr("tensor b begins at byte 4 of the data; expected 8 (it overlaps"));
  EXPECT_THAT(ErrorOf("{" + a + R"(,"b":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}})", 10),
              HasSubstr("a gap before it"));
  EXPECT_THAT(ErrorOf(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
              HasSubstr("span 8 bytes; shape [3] of f32 needs 12"));
  EXPECT_THAT(ErrorOf(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8),
              HasSubstr("dtype F64; expected F32"));
  EXPECT_THAT(ErrorOf(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,8]}})", 8),
              HasSubstr("shape is not a list of whole numbers"));
  EXPECT_THAT(
      ErrorOf(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
      HasSubstr("needs too many"));
  EXPECT_THAT(ErrorOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 8),
              HasSubstr("not a pair [begin, end]"));
  EXPECT_THAT(ErrorOf(R"({"__metadata__":{"k":1}})", 0), HasSubstr("__metadata__.k"));
  EXPECT_THAT(ErrorOf("[1,2]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(ErrorOf("{", 0), HasSubstr("not a JSON object"));
}

TEST(Safetensors, RefusesShortFilesAndHugeHeaders) {
  EXPECT_THAT(ParseSafetensors("").status().message(), HasSubstr("0 bytes"));
  EXPECT_THAT(ParseSafetensors("1234567").status().message(), HasSubstr("7 bytes"));
  EXPECT_THAT(ParseSafetensors(std::string(8, '\xff') + "{}").status().message(),
              HasSubstr("cut short"));
  TempFolder folder;
  ASSERT_TRUE(WriteFileAtomic(folder / "short", "abc").ok());
  EXPECT_THAT(SafetensorsFile::Open(folder / "short").status().message(),
              HasSubstr("short: 3 bytes"));
}

// Whatever a byte turns into, the reader answers with a Status and spans inside the file.
TEST(Safetensors, SurvivesMutations) {
  TempFolder folder;
  ASSERT_TRUE(WriteSample(folder / "t").ok());
  const std::string good = *ReadFile(folder / "t");
  Philox random(3, 0);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    for (uint64_t n = 0; n <= random.NextBelow(3); ++n) {
      bytes[random.NextBelow(bytes.size())] = static_cast<char>(random.NextU32());
    }
    if (random.NextBelow(4) == 0) bytes.resize(random.NextBelow(bytes.size()));
    const auto index = ParseSafetensors(bytes);
    refused += !index.ok();
    if (!index.ok()) continue;
    for (const auto& tensor : index->tensors) {
      ASSERT_EQ(static_cast<int64_t>(tensor.data.size()), tensor.info.bytes());
      for (const std::byte b : tensor.data) (void)*const_cast<const volatile std::byte*>(&b);
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace wt::train
