// Test fixtures of the loaders: token sets made from documents in memory, on disk or not.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "text/loader.h"
#include "text/packing_plain.h"
#include "text/token_file.h"

namespace wt::text {

constexpr int32_t kTestVocab = 50, kTestBos = 49;

inline std::string TestHash(char digit = 'a') { return std::string(64, digit); }

inline std::string TestPath(const std::string& name) {
  return testing::TempDir() + "wt_" + std::to_string(getpid()) + "_" + name;
}

#define WT_ASSERT_OK(expr)                                        \
  do {                                                            \
    const ::wt::Status wt_test_status = (expr);                   \
    ASSERT_TRUE(wt_test_status.ok()) << wt_test_status.message(); \
  } while (0)

// Writes one file and gives its path. The text of a document is taken to be as long as its ids sum.
inline std::string WriteTokens(const PlainFile& groups, const std::string& name,
                               int64_t vocab = kTestVocab) {
  const std::string path = TestPath(name);
  auto writer = TokenFileWriter::Create(path, {vocab, TestHash(), 0});
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  for (const PlainGroup& group : groups) {
    for (const PlainDocument& document : group) {
      int64_t bytes = 0;
      for (const int32_t id : document) bytes += id;
      EXPECT_TRUE(writer->AddDocument(document, bytes).ok());
    }
    writer->EndRowGroup();
  }
  EXPECT_TRUE(writer->Finish().ok());
  return path;
}

// A file of the corpus in memory, for tests that make many.
class MemorySource final : public TokenSource {
 public:
  explicit MemorySource(const PlainFile& groups) {
    for (const PlainGroup& group : groups) {
      for (const PlainDocument& document : group) {
        documents_.push_back(document);
        starts_.push_back(starts_.back() + static_cast<int64_t>(document.size()));
        for (const int32_t id : document) raw_bytes_ += id;
      }
      group_starts_.push_back(static_cast<int64_t>(documents_.size()));
    }
  }

  const std::string& name() const override { return name_; }
  int64_t vocab_size() const override { return kTestVocab; }
  const std::string& tokenizer_hash() const override { return hash_; }
  int64_t raw_bytes() const override { return raw_bytes_; }
  int64_t documents() const override { return static_cast<int64_t>(documents_.size()); }
  int64_t row_groups() const override { return static_cast<int64_t>(group_starts_.size()) - 1; }
  int64_t GroupStart(int64_t group) const override {
    return group_starts_[static_cast<size_t>(group)];
  }
  int64_t DocumentStart(int64_t document) const override {
    return starts_[static_cast<size_t>(document)];
  }
  void Copy(int64_t document, int64_t begin, std::span<int32_t> out) const override {
    const PlainDocument& ids = documents_[static_cast<size_t>(document)];
    for (size_t i = 0; i < out.size(); ++i) out[i] = ids.at(static_cast<size_t>(begin) + i);
  }

 private:
  std::string name_ = "memory", hash_ = TestHash();
  std::vector<PlainDocument> documents_;
  std::vector<int64_t> starts_{0}, group_starts_{0};
  int64_t raw_bytes_ = 0;
};

inline TokenSet SetOf(const PlainCorpus& corpus) {
  std::vector<std::shared_ptr<const TokenSource>> sources;
  for (const PlainFile& file : corpus) sources.push_back(std::make_shared<MemorySource>(file));
  auto set = TokenSet::Create(std::move(sources));
  EXPECT_TRUE(set.ok()) << set.status().message();
  return std::move(set).value();
}

inline LoaderConfig TestConfig(Layout layout, int64_t context = 16, int64_t rows = 3) {
  LoaderConfig config;
  config.layout = layout;
  config.context = context;
  config.rows = rows;
  config.buffer_documents = 20;
  config.refill_documents = 7;
  config.bos = kTestBos;
  return config;
}

inline std::unique_ptr<Loader> LoaderOf(const TokenSet& set, const LoaderConfig& config) {
  auto loader = MakeLoader(set, config);
  EXPECT_TRUE(loader.ok()) << loader.status().message();
  return std::move(loader).value();
}

// Row r of a batch as its context + 1 tokens.
inline std::vector<int32_t> RowOf(const Batch& batch, int64_t context, int64_t r) {
  const auto at = batch.inputs.begin() + r * context;
  std::vector<int32_t> row(at, at + context);
  row.push_back(batch.targets[static_cast<size_t>((r + 1) * context - 1)]);
  return row;
}

inline bool SameBatch(const Batch& a, const Batch& b) {
  return a.inputs == b.inputs && a.targets == b.targets && a.epoch == b.epoch;
}

}  // namespace wt::text
