// Tests of the smaller files of base/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "base/dtype.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/text_util.h"
#include "base/toml_file.h"

namespace wt {
namespace {

using testing::HasSubstr;

std::string TempPath(const std::string& name) { return testing::TempDir() + "/wt_base_" + name; }

TEST(DTypeTest, BF16RoundsToNearestEven) {
  EXPECT_EQ(BF16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BF16(1.00390625f).bits, 0x3f80);  // half way, to even
  EXPECT_EQ(BF16(1.01171875f).bits, 0x3f82);  // half way, to even
  EXPECT_TRUE(std::isnan(static_cast<float>(BF16(NAN))));
  EXPECT_EQ(BF16(3.4e38f).bits, 0x7f80);
}

TEST(DTypeTest, EveryF16SurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    F16 half;
    half.bits = static_cast<uint16_t>(bits);
    const float value = half;
    if (std::isnan(value)) continue;
    ASSERT_EQ(F16(value).bits, half.bits) << bits;
  }
}

TEST(DTypeTest, F16RoundsBetweenNeighbours) {
  EXPECT_EQ(F16(65520.0f).bits, 0x7c00);  // ties to even, which overflows
  EXPECT_EQ(F16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(F16(0x1p-25f).bits, 0);  // half of the smallest subnormal, to even
  EXPECT_EQ(F16(0x1.8p-25f).bits, 1);
}

TEST(FilesTest, AtomicWriteLeavesTheOldFileWhenNotCommitted) {
  const std::string path = TempPath("atomic");
  ASSERT_TRUE(WriteFileAtomic(path, "old").ok());
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append("new").ok());
  }
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_FALSE(FileExists(path + ".tmp"));
}

TEST(FilesTest, MissingFileIsNamed) {
  const auto text = ReadFile("/nonexistent/file");
  EXPECT_EQ(text.status().code(), Code::kNotFound);
  EXPECT_THAT(text.status().message(), HasSubstr("/nonexistent/file"));
}

TEST(FilesTest, Sha256KnownAnswer) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ParallelTest, EveryTaskOnceAtAnyThreadCount) {
  for (int threads : {1, 2, 5}) {
    SetThreads(threads);
    std::vector<std::atomic<int>> seen(1000);
    ParallelRanges(1000, 7, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const auto& count : seen) ASSERT_EQ(count, 1);
  }
}

TEST(ParallelTest, JobsOfTwoThreadsAndNestedOnesAllRun) {
  SetThreads(3);
  std::atomic<int64_t> sum{0};
  const auto job = [&] {
    for (int i = 0; i < 200; ++i) {
      ParallelFor(
          7, [&](int64_t task) { ParallelFor(3, [&](int64_t inner) { sum += task * inner; }); });
    }
  };
  std::thread other(job);
  job();
  other.join();
  EXPECT_EQ(sum, 2 * 200 * 21 * 3);
}

TEST(RandomTest, PhiloxKnownAnswers) {  // from the Random123 distribution's known-answer table
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              testing::ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(
      Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      testing::ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
}

TEST(RandomTest, StreamResumesAtAnyPosition) {
  Philox whole(7, 3);
  for (int i = 0; i < 13; ++i) whole.NextU32();
  Philox resumed(7, 3, 13);
  for (int i = 0; i < 9; ++i) ASSERT_EQ(resumed.NextU32(), whole.NextU32());
}

TEST(TextUtilTest, Durations) {
  EXPECT_EQ(*ParseDuration("30m"), 1800);
  EXPECT_EQ(*ParseDuration("1.5h"), 5400);
  EXPECT_EQ(*ParseDuration("250ms"), 0.25);
  for (const char* bad : {"", "abc", "-3s", "5 minutes", "0s", "inf"})
    EXPECT_FALSE(ParseDuration(bad).ok());
}

TEST(TomlTest, MisspeltKeyNamesTheNearest) {
  auto table = ParseToml("depht = 3\n", "r.toml");
  ASSERT_TRUE(table.ok());
  TableReader reader(&*table, "model");
  int depth = 1, width = 2;
  reader.Get("depth", &depth);
  reader.Get("width", &width);
  EXPECT_THAT(reader.Finish().message(), HasSubstr("did you mean model.depth?"));
}

TEST(TomlTest, WrongTypeShowsGivenAndExpected) {
  auto table = ParseToml("depth = \"ten\"\n", "r.toml");
  TableReader reader(&*table, "model");
  int depth = 1;
  reader.Get("depth", &depth);
  EXPECT_THAT(reader.Finish().message(), HasSubstr("expected a whole number"));
}

TEST(TomlTest, SyntaxErrorHasFileAndLine) {
  EXPECT_THAT(ParseToml("a = 1\nb = = 2\n", "r.toml").status().message(), HasSubstr("r.toml:2"));
}

}  // namespace
}  // namespace wt
