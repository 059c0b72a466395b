#include "chip/profile/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "chip/profile/profile_testing.h"
#include "chip/profile/proto_writer.h"

namespace wt::chip {
namespace {

struct Field {
  int number = 0;
  uint64_t value = 0;
  std::string bytes;
};

// The fields of a message; nothing when the bytes are no message.
std::optional<std::vector<Field>> Parse(const std::string& bytes) {
  std::vector<Field> fields;
  size_t at = 0;
  const auto varint = [&]() -> std::optional<uint64_t> {
    uint64_t value = 0;
    for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes[at++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  };
  while (at < bytes.size()) {
    const auto key = varint();
    if (!key) return std::nullopt;
    Field field{static_cast<int>(*key >> 3), 0, ""};
    if ((*key & 7) == 0) {
      const auto value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
    } else {
      const size_t size = (*key & 7) == 1 ? 8 : varint().value_or(bytes.size());
      if (size > bytes.size() - at) return std::nullopt;
      field.bytes = bytes.substr(at, size);
      at += size;
    }
    fields.push_back(field);
  }
  return fields;
}

const Field* Find(const std::vector<Field>& fields, int number) {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

class TraceTest : public testing::Test {
 protected:
  // Packets of the trace of `timed`.
  std::vector<std::vector<Field>> Write(const TimedProgram& timed) {
    TraceRecorder recorder(timed.program);
    for (size_t i = 0; i < timed.times.size(); ++i) recorder.Add(i, timed.times[i]);
    const std::string path = testing::TempDir() + fmt::format("/wt_{}.pftrace", ::getpid());
    const Status status = recorder.Write(path, "kernel on trn2", {}, {});
    EXPECT_TRUE(status.ok()) << status.message();
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::vector<std::vector<Field>> packets;
    const auto fields = Parse(bytes);
    EXPECT_TRUE(fields.has_value());
    for (const Field& packet : fields.value_or(std::vector<Field>{})) {
      EXPECT_EQ(packet.number, 1);
      packets.push_back(Parse(packet.bytes).value_or(std::vector<Field>{}));
    }
    return packets;
  }
};

TEST_F(TraceTest, EverySliceThatBeginsEndsOnItsTrack) {
  TimedProgram timed;
  timed.Add(Engine::kTensor, 0, 10);
  timed.Add(Engine::kDma, 3, 30);
  timed.Add(Engine::kDma, 5, 20);  // overlaps: needs a lane of its own
  std::map<uint64_t, int> open;
  int slices = 0;
  for (const auto& packet : Write(timed)) {
    const Field* event = Find(packet, 11);
    if (!event) continue;
    const auto fields = *Parse(event->bytes);
    const uint64_t type = Find(fields, 9)->value, track = Find(fields, 11)->value;
    if (type == 1) {
      EXPECT_EQ(++open[track], 1) << "slices of one track overlap";
    }
    if (type == 2) --open[track];
    slices += type == 1;
  }
  EXPECT_EQ(slices, 3);
  EXPECT_EQ(open.size(), 3u);
}

TEST_F(TraceTest, AnArrowLeadsFromTheProducerToWhoWaited) {
  TimedProgram timed;
  timed.Add(Engine::kDma, 0, 10);
  timed.Add(Engine::kVector, 12, 20, Wait::kData, 0);
  std::vector<std::string> begins, ends;
  for (const auto& packet : Write(timed)) {
    const Field* event = Find(packet, 11);
    if (!event) continue;
    const auto fields = *Parse(event->bytes);
    if (const Field* flow = Find(fields, 47)) begins.push_back(flow->bytes);
    if (const Field* flow = Find(fields, 48)) ends.push_back(flow->bytes);
  }
  ASSERT_EQ(begins.size(), 1u);
  EXPECT_EQ(begins, ends);
}

TEST(ProtoWriter, WritesWhatTheFormatSays) {
  ProtoWriter message;
  message.Varint(1, 300);
  message.Bytes(2, "ab");
  EXPECT_EQ(message.bytes(), std::string("\x08\xac\x02\x12\x02"
                                         "ab"));
}

TEST(ProtoWriter, NestedMessagesOfAnyLength) {
  for (size_t length : {0u, 1u, 100u, 124u, 125u, 126u, 127u, 128u, 20000u, 3000000u}) {
    ProtoWriter writer;
    const size_t outer = writer.Open(7), inner = writer.Open(8);
    writer.Bytes(1, std::string(length, 'x'));
    writer.Close(inner);
    writer.Varint(9, 5);
    writer.Close(outer);
    writer.Varint(10, 6);
    const auto all = *Parse(std::string(writer.bytes()));
    ASSERT_EQ(all.size(), 2u) << length;
    const auto in_outer = *Parse(Find(all, 7)->bytes);
    EXPECT_EQ(Find(in_outer, 9)->value, 5u);
    EXPECT_EQ(Find(*Parse(Find(in_outer, 8)->bytes), 1)->bytes, std::string(length, 'x'));
    EXPECT_EQ(Find(all, 10)->value, 6u);
  }
}

}  // namespace
}  // namespace wt::chip
