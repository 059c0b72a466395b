// The Parquet reader against files of every layout it claims, written by a writer that shares no
// code with it, and against thousands of damaged ones. tests/parquet reads other programs' files.
#include "text/parquet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/random.h"
#include "text/parquet_test_file.h"

namespace wt::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string TempPath(const std::string& name) { return testing::TempDir() + "/wt_parquet_" + name; }

std::string Save(const std::string& name, const std::string& bytes) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// A file in memory alone, for the tests that make thousands.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : fd_(memfd_create("parquet", MFD_CLOEXEC)) {
    EXPECT_EQ(write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_;
};

// Texts of many lengths, repeats (for dictionaries), empty ones and, if asked for, nulls.
Texts MakeTexts(size_t n, bool nulls, uint64_t seed = 1) {
  Philox random(seed, 0);
  Texts texts;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t kind = random.NextBelow(10);
    if (kind == 0 && nulls) {
      texts.push_back(std::nullopt);
    } else if (kind < 5) {
      texts.push_back(fmt::format("word {}", random.NextBelow(20)));
    } else {
      texts.push_back(std::string(random.NextBelow(300), 'a') + fmt::format("{}", i));
    }
  }
  return texts;
}

// Every value of the file; at most `most` of them.
Result<Texts> ReadTexts(const std::string& path, size_t most = SIZE_MAX) {
  WT_ASSIGN_OR_RETURN(const ParquetFile file, ParquetFile::Open(path));
  Texts texts;
  for (int g = 0; g < file.row_groups(); ++g) {
    auto reader = file.ReadRowGroup(g);
    std::optional<std::string_view> value;
    for (;;) {
      WT_ASSIGN_OR_RETURN(const bool more, reader.Next(&value));
      if (!more) break;
      if (texts.size() >= most) return texts;
      texts.push_back(value ? std::optional<std::string>(*value) : std::nullopt);
    }
  }
  return texts;
}

std::vector<TestParquetOptions> AllLayouts() {
  std::vector<TestParquetOptions> layouts;
  for (int codec : {0, 1, 2, 6})
    for (int encoding : {0, 1, 2})
      for (bool v2 : {false, true})
        for (bool optional : {false, true}) {
          TestParquetOptions o;
          o.codec = codec, o.v2 = v2, o.optional = optional;
          o.dictionary = encoding == 1, o.delta_lengths = encoding == 2;
          o.crc = codec == 6;
          layouts.push_back(o);
        }
  return layouts;
}

TEST(ParquetTest, EveryLayoutGivesTheTextsBack) {
  for (TestParquetOptions o : AllLayouts()) {
    o.group_rows = 300, o.page_rows = 70;
    const Texts texts = MakeTexts(1000, o.optional);
    const auto read = ReadTexts(Save("layout.parquet", TestParquetWriter(o).Write(texts)));
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(*read, texts) << "codec " << o.codec << " v2 " << o.v2 << " dictionary "
                            << o.dictionary << " delta " << o.delta_lengths;
  }
}

TEST(ParquetTest, RowGroupsAreReadAlone) {
  const Texts texts = MakeTexts(2500, true);
  const auto file = ParquetFile::Open(Save("groups.parquet", TestParquetWriter({}).Write(texts)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->rows(), 2500);
  ASSERT_EQ(file->row_groups(), 3);
  EXPECT_EQ(file->rows_in(2), 452);
  EXPECT_EQ(file->first_row(2), 2048);
  auto reader = file->ReadRowGroup(2);
  std::optional<std::string_view> value;
  ASSERT_TRUE(*reader.Next(&value));
  EXPECT_EQ(value.has_value(), texts[2048].has_value());
  if (value) {
    EXPECT_EQ(*value, *texts[2048]);
  }
}

TEST(ParquetTest, AllNullsAndNoRows) {
  for (TestParquetOptions o : AllLayouts()) {
    if (!o.optional) continue;
    const Texts nulls(10, std::nullopt);
    EXPECT_EQ(*ReadTexts(Save("nulls.parquet", TestParquetWriter(o).Write(nulls))), nulls);
    EXPECT_EQ(ReadTexts(Save("none.parquet", TestParquetWriter(o).Write({})))->size(), 0u);
  }
}

TEST(ParquetTest, OneWordDictionaryHasNoIndexBits) {
  TestParquetOptions o;
  o.dictionary = true;
  const Texts texts(50, "same");
  EXPECT_EQ(*ReadTexts(Save("one_word.parquet", TestParquetWriter(o).Write(texts))), texts);
}

TEST(ParquetTest, MissingColumnListsWhatThereIs) {
  TestParquetOptions o;
  o.column = "body";
  const auto file = ParquetFile::Open(Save("body.parquet", TestParquetWriter(o).Write({"x"})));
  EXPECT_EQ(file.status().code(), Code::kNotFound);
  EXPECT_THAT(file.status().message(), AllOf(HasSubstr("body.parquet"), HasSubstr("score, body")));
}

TEST(ParquetTest, ColumnOfNumbersIsRefused) {
  const std::string path = Save("number.parquet", TestParquetWriter({}).Write({"x"}));
  EXPECT_EQ(ParquetFile::Open(path, "score").status().code(), Code::kUnsupported);
}

TEST(ParquetTest, WrongEndsSayWhatIsWrong) {
  const std::string whole = TestParquetWriter({}).Write(MakeTexts(20, true));
  const auto open = [](const std::string& bytes) {
    return ParquetFile::Open(Save("ends.parquet", bytes)).status().message();
  };
  EXPECT_THAT(open(""), HasSubstr("empty"));
  EXPECT_THAT(open("<!DOCTYPE html>"), HasSubstr("not a Parquet file"));
  EXPECT_THAT(open(whole.substr(0, whole.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(open("PAR1PAR1"), HasSubstr("cut off"));
  EXPECT_THAT(open(whole.substr(0, 4) + whole.substr(whole.size() - 8)), HasSubstr("a footer of"));
  EXPECT_THAT(open(whole.substr(0, whole.size() - 1) + "E"), HasSubstr("encrypted"));
  EXPECT_EQ(ParquetFile::Open(TempPath("absent")).status().code(), Code::kNotFound);
}

TEST(ParquetTest, DamagedPageNamesFileGroupAndPage) {
  TestParquetOptions o;
  o.codec = 6, o.crc = true;
  std::string bytes = TestParquetWriter(o).Write(MakeTexts(500, true));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  const auto read = ReadTexts(Save("damaged.parquet", bytes));
  EXPECT_EQ(read.status().code(), Code::kCorrupt);
  EXPECT_THAT(read.status().message(),
              AllOf(HasSubstr("damaged.parquet"), HasSubstr("row group 0, page 2"),
                    HasSubstr("checksum"), HasSubstr("fetch it again")));
}

TEST(ParquetTest, UnknownCodecIsNamed) {
  TestParquetOptions o;
  o.codec = 4;
  const auto read = ReadTexts(Save("brotli.parquet", TestParquetWriter(o).Write({"x"})));
  EXPECT_EQ(read.status().code(), Code::kUnsupported);
  EXPECT_THAT(read.status().message(), HasSubstr("BROTLI"));
}

// A footer is nothing but claims; each of these is one that the file cannot keep.
TEST(ParquetTest, FalseClaimsOfTheFooterAreFound) {
  const std::string whole = TestParquetWriter({}).Write(MakeTexts(20, true));
  const size_t footer = whole.size() - 8 - static_cast<uint8_t>(whole[whole.size() - 8]) -
                        256u * static_cast<uint8_t>(whole[whole.size() - 7]);
  int refused = 0;
  for (size_t at = footer; at < whole.size() - 8; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] + 1);
    refused += !ReadTexts(MemoryFile(bytes).path(), 100).ok();
  }
  EXPECT_GT(refused, 40);
}

// WT_FUZZ_ROUNDS=100000 makes it a longer search.
TEST(ParquetTest, DamageNeverCrashesAndNeverInventsRows) {
  const char* more = std::getenv("WT_FUZZ_ROUNDS");
  const int rounds = more ? std::atoi(more) : 4000;
  const auto layouts = AllLayouts();
  Philox random(5, 0);
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    TestParquetOptions o = layouts[random.NextBelow(layouts.size())];
    o.crc = false;
    o.group_rows = 30, o.page_rows = 12;
    std::string bytes = TestParquetWriter(o).Write(MakeTexts(80, o.optional, random.NextU64()));
    for (uint64_t edits = 1 + random.NextBelow(4); edits > 0; --edits) {
      // Half of the edits go to the footer, where they matter most.
      const size_t from =
          random.NextBelow(2) ? bytes.size() - std::min<size_t>(bytes.size(), 400) : 0;
      const size_t at = from + random.NextBelow(bytes.size() - from);
      if (random.NextBelow(4) == 0) {
        bytes.erase(at, 1 + random.NextBelow(8));
      } else {
        bytes[at] = static_cast<char>(random.NextBelow(3) ? random.NextU32() : 0xff);
      }
      if (bytes.empty()) bytes.assign(1, 'P');
    }
    const MemoryFile file(bytes);
    const auto read = ReadTexts(file.path(), 10000);
    if (read.ok()) {
      EXPECT_LE(read->size(), 10000u);
    } else {
      ++refused;
      EXPECT_THAT(read.status().message(), HasSubstr(file.path()));
    }
  }
  EXPECT_GT(refused, rounds / 4);
}

TEST(ParquetTest, EveryTruncationIsRefused) {
  TestParquetOptions o;
  o.codec = 1, o.dictionary = true;
  const std::string whole = TestParquetWriter(o).Write(MakeTexts(40, true));
  for (size_t n = 0; n < whole.size(); ++n)
    ASSERT_FALSE(ReadTexts(MemoryFile(whole.substr(0, n)).path()).ok()) << n;
}

TEST(RunDecoderTest, PackedAndRepeatedRuns) {
  parquet::RunDecoder runs(std::string_view("\x03\x88\xc6\xfa\x06\x05", 6), 3);
  uint32_t value;
  for (uint32_t i = 0; i < 8; ++i) {  // the format's own example: 0 to 7 in three bits each
    ASSERT_TRUE(runs.Next(&value));
    ASSERT_EQ(value, i);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(runs.Next(&value));
    ASSERT_EQ(value, 5u);
  }
  EXPECT_FALSE(runs.Next(&value));
}

TEST(RunDecoderTest, CutRunsEnd) {
  uint32_t value;
  EXPECT_FALSE(parquet::RunDecoder("", 1).Next(&value));
  EXPECT_FALSE(parquet::RunDecoder("\x03", 1).Next(&value));
  EXPECT_FALSE(parquet::RunDecoder("\xff\xff\xff\xff\xff\x01", 1).Next(&value));
  EXPECT_FALSE(parquet::RunDecoder("\x04\x01", 32).Next(&value));
}

}  // namespace
}  // namespace wt::text
