// The Parquet reader against files that other programs wrote: DuckDB, the Rust implementation and
// hyparquet-writer, from the npm registry. write.mjs says what they write. Skipped, with a word,
// where node or the registry is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "text/jsonl.h"
#include "text/parquet.h"

namespace wt::text {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = WT_BUILD_DIR "/parquet_writers";

int RunShell(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str());
}

// Installs the writers once; an empty text when that worked, else why not.
std::string InstallWriters() {
  const std::string here = WT_SOURCE_DIR "/tests/parquet/";
  if (RunShell("node --version") != 0 || RunShell("npm --version") != 0)
    return "node and npm are not here";
  fs::create_directories(kFolder);
  for (const char* name : {"package.json", "package-lock.json", "write.mjs"})
    fs::copy_file(here + name, kFolder + "/" + name, fs::copy_options::overwrite_existing);
  const std::string go = "cd '" + kFolder + "' && ";
  const std::string lock = *Sha256OfFile(kFolder + "/package-lock.json");
  const auto installed = ReadFile(kFolder + "/installed");
  if (!installed.ok() || *installed != lock) {
    if (RunShell(go + "npm ci --no-audit --no-fund") != 0) return "npm cannot install the writers";
    EXPECT_TRUE(WriteFileAtomic(kFolder + "/installed", lock).ok());
  }
  return "";
}

std::vector<std::optional<std::string>> ReadExpected() {
  std::vector<std::optional<std::string>> texts;
  auto lines = LineReader::Open(kFolder + "/out/expected.jsonl", false);
  std::string_view line;
  while (*(*lines)->Next(&line)) {
    const auto text = nlohmann::json::parse(line)["text"];
    texts.push_back(text.is_null() ? std::nullopt
                                   : std::optional<std::string>(text.get<std::string>()));
  }
  return texts;
}

void ExpectTexts(const std::string& path, const std::vector<std::optional<std::string>>& texts) {
  const auto file = ParquetFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->rows(), static_cast<int64_t>(texts.size()));
  size_t row = 0;
  for (int g = 0; g < file->row_groups(); ++g) {
    auto reader = file->ReadRowGroup(g);
    std::optional<std::string_view> value;
    for (;;) {
      const auto more = reader.Next(&value);
      ASSERT_TRUE(more.ok()) << more.status().message();
      if (!*more) break;
      // The files of required columns hold a word in place of nulls.
      const std::string expected = texts[row].value_or("(null)");
      ASSERT_EQ(value.value_or("(null)"), expected) << path << " row " << row;
      ++row;
    }
  }
  ASSERT_EQ(row, texts.size());
}

TEST(OtherWritersTest, TheirFilesGiveTheTextsBack) {
  if (const std::string why = InstallWriters(); !why.empty()) GTEST_SKIP() << why;
  fs::remove_all(kFolder + "/out");
  ASSERT_EQ(RunShell("cd '" + kFolder + "' && node write.mjs out"), 0)
      << "run it by hand to see why";
  const auto texts = ReadExpected();
  ASSERT_EQ(texts.size(), 5000u);
  const auto files = ListFiles(kFolder + "/out/*.parquet");
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->size(), 28u);
  for (const std::string& path : *files) ExpectTexts(path, texts);
  // The layout of nanochat's shards.
  const auto shard = ParquetFile::Open(kFolder + "/out/rust_zstd_plain_V1.parquet");
  ASSERT_EQ(shard->row_groups(), 5);
  EXPECT_EQ(shard->rows_in(0), 1024);
  EXPECT_EQ(shard->rows_in(4), 5000 - 4 * 1024);
}

}  // namespace
}  // namespace wt::text
