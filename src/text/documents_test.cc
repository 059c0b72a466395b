// Document readers over small folders of every format, and their errors.
#include "text/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "text/jsonl.h"
#include "text/parquet_test_file.h"

namespace wt::text {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A new folder for each test, removed with it.
class DocumentsTest : public testing::Test {
 protected:
  DocumentsTest() {
    folder_ = testing::TempDir() + "/wt_documents_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DocumentsTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }

  std::string folder_;
};

std::string Zstd(const std::string& raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3));
  return out;
}

Result<std::vector<Document>> ReadAll(const std::string& spec, RowGroupStride stride = {}) {
  WT_ASSIGN_OR_RETURN(auto reader, OpenDocuments(spec, stride));
  std::vector<Document> documents;
  Document document;
  for (;;) {
    WT_ASSIGN_OR_RETURN(const bool more, reader->Next(&document));
    if (!more) return documents;
    documents.push_back(document);
  }
}

std::vector<std::string> TextsOf(const Result<std::vector<Document>>& documents) {
  if (!documents.ok()) return {"ERROR: " + documents.status().message()};
  std::vector<std::string> texts;
  for (const Document& d : *documents) texts.push_back(d.text);
  return texts;
}

std::string Lines(int n) {
  std::string lines;
  for (int i = 0; i < n; ++i) lines += fmt::format("{{\"text\":\"d{}\"}}\n", i);
  return lines;
}

TEST_F(DocumentsTest, AFolderMixesFormatsInOrderOfName) {
  Write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
  Write("b.parquet", TestParquetWriter({}).Write({"three", std::nullopt, "four"}));
  Write("c.txt", "five\n");
  Write("d.jsonl.zst", Zstd("{\"text\":\"six\"}\n"));
  Write("e.txt", "seven");
  Write("manifest.json", "{}");
  Write("f.parquet.part", "half");
  Write(".hidden.txt", "no");
  const auto documents = ReadAll(folder_);
  EXPECT_THAT(TextsOf(documents),
              ElementsAre("one", "two", "three", "four", "five\n", "six", "seven"));
  EXPECT_EQ((*documents)[3].id, folder_ + "/b.parquet:2");
  EXPECT_EQ((*documents)[4].id, folder_ + "/c.txt");
  EXPECT_EQ((*documents)[6].file, 4);
}

TEST_F(DocumentsTest, AGlobOrOneFile) {
  Write("a1.txt", "one");
  Write("a2.txt", "two");
  Write("b1.txt", "three");
  EXPECT_THAT(TextsOf(ReadAll(folder_ + "/a*.txt")), ElementsAre("one", "two"));
  EXPECT_THAT(TextsOf(ReadAll(folder_ + "/b1.txt")), ElementsAre("three"));
}

TEST_F(DocumentsTest, RowGroupsOfLinesAndTheirStride) {
  Write("a.jsonl", Lines(2100));
  Write("b.jsonl", Lines(3));
  const auto all = ReadAll(folder_);
  ASSERT_EQ(all->size(), 2103u);
  EXPECT_EQ((*all)[1023].row_group, 0);
  EXPECT_EQ((*all)[1024].row_group, 1);
  EXPECT_EQ((*all)[2099].row_group, 2);
  EXPECT_EQ((*all)[2100].row_group, 0);  // a new file counts anew
  EXPECT_EQ((*all)[2100].file, 1);
  EXPECT_EQ(ReadAll(folder_, {0, 2})->size(), 1024u + 52 + 3);
  const auto odd = ReadAll(folder_, {1, 2});
  ASSERT_EQ(odd->size(), 1024u);
  EXPECT_EQ((*odd)[0].text, "d1024");
  EXPECT_EQ((*odd)[0].id, folder_ + "/a.jsonl:1024");
}

TEST_F(DocumentsTest, StridesOfParquetShareItsRowGroups) {
  TestParquetOptions options;
  options.group_rows = 10;
  Texts texts;
  for (int i = 0; i < 45; ++i) texts.push_back(fmt::format("p{}", i));
  const std::string path = Write("p.parquet", TestParquetWriter(options).Write(texts));
  const auto second = ReadAll(path, {1, 3});  // groups 1 and 4
  ASSERT_EQ(second->size(), 15u);
  EXPECT_EQ((*second)[0].text, "p10");
  EXPECT_EQ((*second)[10].text, "p40");
  EXPECT_EQ((*second)[10].row_group, 4);
  EXPECT_EQ((*second)[10].id, path + ":40");
  EXPECT_EQ(ReadAll(path, {7, 8})->size(), 0u);
}

TEST_F(DocumentsTest, TextFilesAreGroupedAcrossFiles) {
  for (int i = 0; i < 1030; ++i) Write(fmt::format("{:04}.txt", i), "x");
  EXPECT_EQ(ReadAll(folder_, {1, 2})->size(), 6u);
}

TEST_F(DocumentsTest, JsonLinesKeepBytesAndIds) {
  Write("a.jsonl",
        "{\"id\":\"urn:1\",\"text\":\"tab\\t\\u00e9\\ud83d\\ude00 \\\"q\\\"\",\"x\":[1,{}]}\r\n"
        "\n"
        "{\"text\":\"\",\"id\":7}");
  const auto documents = ReadAll(folder_);
  EXPECT_THAT(TextsOf(documents), ElementsAre("tab\t\xc3\xa9\xf0\x9f\x98\x80 \"q\"", ""));
  EXPECT_EQ((*documents)[0].id, "urn:1");
  EXPECT_EQ((*documents)[1].id, "7");
}

TEST_F(DocumentsTest, LongLinesAndManyFrames) {
  const std::string text(3 << 20, 'y');  // longer than one piece of reading
  const std::string line = "{\"text\":\"" + text + "\"}\n";
  Write("a.jsonl", line + line);
  Write("b.jsonl.zst", Zstd(line) + Zstd("{\"text\":\"z\"}\n") + Zstd(line));
  EXPECT_THAT(TextsOf(ReadAll(folder_)), ElementsAre(text, text, text, "z", text));
}

TEST_F(DocumentsTest, BadLinesAreNamedWithTheirNumber) {
  const auto message = [&](const std::string& line) {
    return ReadAll(Write("bad.jsonl", "{\"text\":\"fine\"}\n" + line + "\n")).status().message();
  };
  EXPECT_THAT(message("{\"text\":\"cut"),
              AllOf(HasSubstr("bad.jsonl:2: is not valid JSON"), HasSubstr("expected one JSON")));
  EXPECT_THAT(message("{\"txt\":\"a\"}"), HasSubstr("has no text"));
  EXPECT_THAT(message("{\"text\":5}"), HasSubstr("its text is a JSON number"));
  EXPECT_THAT(message("[\"text\"]"), HasSubstr("is a JSON array"));
  EXPECT_THAT(message("{\"text\":\"\xff\"}"), HasSubstr("is not valid JSON"));
}

TEST_F(DocumentsTest, DamagedZstandardIsNamed) {
  const std::string whole = Zstd(Lines(5000));
  const auto cut = ReadAll(Write("cut.jsonl.zst", whole.substr(0, whole.size() - 9)));
  EXPECT_EQ(cut.status().code(), Code::kCorrupt);
  EXPECT_THAT(cut.status().message(), AllOf(HasSubstr("cut.jsonl.zst"), HasSubstr("cut off")));
  const auto plain = ReadAll(Write("plain.jsonl.zst", Lines(5)));
  EXPECT_THAT(plain.status().message(), HasSubstr("is not Zstandard data"));
}

TEST_F(DocumentsTest, EmptyFilesAreErrors) {
  EXPECT_THAT(ReadAll(Write("e.txt", "")).status().message(),
              HasSubstr("e.txt: the file is empty"));
  EXPECT_THAT(ReadAll(Write("e.jsonl", "\n\n")).status().message(), HasSubstr("no documents"));
  EXPECT_THAT(ReadAll(Write("e.jsonl.zst", "")).status().message(), HasSubstr("no documents"));
  EXPECT_THAT(ReadAll(Write("e.parquet", "")).status().message(), HasSubstr("is empty"));
}

TEST_F(DocumentsTest, WhatIsNotTextIsRefused) {
  const std::string bin = Write("shard.bin", "tokens");
  EXPECT_THAT(OpenDocuments(bin).status().message(),
              AllOf(HasSubstr("hold token ids, not text"), HasSubstr(".jsonl.zst")));
  EXPECT_THAT(OpenDocuments(folder_).status().message(), HasSubstr("hold token ids"));
  EXPECT_THAT(OpenDocuments(Write("a.csv", "x")).status().message(), HasSubstr("only .csv"));
  EXPECT_EQ(OpenDocuments(folder_ + "/absent").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace wt::text
