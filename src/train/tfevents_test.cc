#include "train/tfevents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/crc32c.h"
#include "base/files.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

template <class T>
T Fixed(std::string_view bytes, size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

// A decoder of its own: field number -> raw contents, in order.
std::multimap<uint64_t, std::string> Decode(std::string_view message) {
  std::multimap<uint64_t, std::string> fields;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(message.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const uint64_t tag = varint();
    std::string contents;
    if ((tag & 7) == 0) {
      contents = std::to_string(varint());
    } else {
      const size_t bytes = (tag & 7) == 1 ? 8 : (tag & 7) == 5 ? 4 : varint();
      contents = message.substr(at, bytes);
      at += bytes;
    }
    fields.emplace(tag >> 3, contents);
  }
  return fields;
}

uint32_t Mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

std::vector<std::string> Records(const std::string& file) {
  std::vector<std::string> records;
  for (size_t at = 0; at < file.size();) {
    const auto length = Fixed<uint64_t>(file, at);
    EXPECT_EQ(Fixed<uint32_t>(file, at + 8), Mask(Crc32cPlain(file.substr(at, 8))));
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(Fixed<uint32_t>(file, at + 12 + length), Mask(Crc32cPlain(records.back())));
    at += 16 + length;
  }
  return records;
}

TEST(TfEvents, AnIndependentDecoderReadsTheScalars) {
  TempFolder run;
  auto writer = TfEventWriter::Create(run.path(), 1.7e9, 0);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Add(1.7e9 + 0.5, 300, {{"train/loss", 4.25}, {"val/bpb", 1.5}}).ok());
  EXPECT_THAT(writer->path(), testing::EndsWith("events.out.tfevents.1700000000.windtunnel"));
  const auto records = Records(*ReadFile(writer->path()));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(Decode(records[0]).find(3)->second, "brain.Event:2");
  const auto event = Decode(records[1]);
  EXPECT_EQ(Fixed<double>(event.find(1)->second), 1.7e9 + 0.5);
  EXPECT_EQ(event.find(2)->second, "300");
  const auto values = Decode(event.find(5)->second);
  ASSERT_EQ(values.count(1), 2u);
  const auto loss = Decode(values.find(1)->second);
  EXPECT_EQ(loss.find(1)->second, "train/loss");
  EXPECT_EQ(Fixed<float>(loss.find(2)->second), 4.25f);
}

TEST(TfEvents, AResumeStartsANewFileAndASession) {
  TempFolder run;
  auto first = TfEventWriter::Create(run.path(), 1.7e9, 0);
  auto second = TfEventWriter::Create(run.path(), 1.7e9, 20);
  ASSERT_TRUE(second.ok());
  EXPECT_GT(second->path(), first->path());
  const auto start = Decode(Records(*ReadFile(second->path())).at(1));
  EXPECT_EQ(start.find(2)->second, "21");
  EXPECT_EQ(Decode(start.find(7)->second).find(1)->second, "1");
}

TEST(TfEvents, AMissingFolderIsNamed) {
  EXPECT_THAT(TfEventWriter::Create("/nonexistent", 1, 0).status().message(),
              testing::HasSubstr("/nonexistent/events.out"));
}

}  // namespace
}  // namespace wt::train
