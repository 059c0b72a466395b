#include "text/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

PlainCorpus LoaderCorpus(uint64_t i) {
  Philox random(i, 3);
  return RandomPlainCorpus(&random, 2, 4, 30, 40, kTestBos);
}

// Every kind of loader: layouts, interleaving, pools, ranks.
std::vector<LoaderConfig> AllConfigs() {
  std::vector<LoaderConfig> configs;
  for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
    for (const int64_t pool : {0, 1, 10}) {
      for (const int64_t streams : {1, 3}) {
        if (layout == Layout::kBestFit && streams > 1) continue;
        LoaderConfig config = TestConfig(layout);
        config.streams = streams;
        config.shuffle_pool = pool;
        config.shuffle_from_row = pool == 10 ? 7 : 0;
        config.mask_bos_targets = pool == 1;
        config.seed = 5;
        configs.push_back(config);
      }
    }
  }
  return configs;
}

std::vector<Batch> Take(Loader* loader, int64_t n) {
  std::vector<Batch> batches(static_cast<size_t>(n));
  for (Batch& batch : batches) loader->Next(&batch);
  return batches;
}

// The first ids of all rows, which tell rows of OneRowDocuments() apart.
std::vector<int32_t> RowNumbers(const std::vector<Batch>& batches, int64_t context) {
  std::vector<int32_t> numbers;
  for (const Batch& batch : batches) {
    for (size_t at = 1; at < batch.inputs.size(); at += static_cast<size_t>(context)) {
      numbers.push_back(batch.inputs[at]);
    }
  }
  return numbers;
}

// Documents that fill a row each in the stream layout: document d is `context - 1` times d.
TokenSet OneRowDocuments(int n, int64_t context) {
  PlainGroup group;
  for (int d = 0; d < n; ++d) group.emplace_back(context - 1, d);
  return SetOf({{group}});
}

TEST(Loader, TargetsAreInputsOneLater) {
  for (const LoaderConfig& config : AllConfigs()) {
    const auto loader = LoaderOf(SetOf(LoaderCorpus(1)), config);
    for (const Batch& batch : Take(loader.get(), 20)) {
      ASSERT_EQ(batch.inputs.size(), 3u * 16u);
      for (size_t i = 0; i < batch.inputs.size(); ++i) {
        if (i % 16 == 15) continue;
        const int32_t next = batch.inputs[i + 1];
        const bool masked = config.mask_bos_targets && next == kTestBos;
        ASSERT_EQ(batch.targets[i], masked ? -1 : next);
      }
    }
  }
}

TEST(Loader, BatchesAreTheLayoutsRowsInOrder) {
  const PlainCorpus corpus = LoaderCorpus(2);
  PlainBestFit plain(PlainRankGroups(corpus, kTestBos, 1, 2), 16, 20, 7);
  LoaderConfig config = TestConfig(Layout::kBestFit);
  config.world = 2;
  config.rank = 1;
  const auto loader = LoaderOf(SetOf(corpus), config);
  for (const Batch& batch : Take(loader.get(), 50)) {
    for (int64_t r = 0; r < 3; ++r) ASSERT_EQ(RowOf(batch, 16, r), plain.NextRow());
    EXPECT_EQ(batch.epoch, plain.epoch());
  }
}

TEST(Loader, ResumesBitForBitAtRandomPoints) {
  Philox random(4, 0);
  for (const LoaderConfig& config : AllConfigs()) {
    const TokenSet set = SetOf(LoaderCorpus(4));
    const auto whole = LoaderOf(set, config);
    for (int point = 0; point < 8; ++point) {
      Take(whole.get(), static_cast<int64_t>(random.NextBelow(12)));
      const auto resumed = LoaderOf(set, config);
      WT_ASSERT_OK(resumed->RestoreState(whole->SaveState()));
      EXPECT_EQ(resumed->SaveState(), whole->SaveState());
      EXPECT_EQ(resumed->tokens(), whole->tokens());
      const auto ahead = whole->Clone();
      const auto expected = Take(ahead.get(), 15), got = Take(resumed.get(), 15);
      for (size_t i = 0; i < 15; ++i) ASSERT_TRUE(SameBatch(expected[i], got[i])) << i;
    }
  }
}

TEST(Loader, SkipLeavesTheStateThatNextLeaves) {
  for (const LoaderConfig& config : AllConfigs()) {
    const TokenSet set = SetOf(LoaderCorpus(5));
    const auto skipped = LoaderOf(set, config), read = LoaderOf(set, config);
    Take(read.get(), 23);
    skipped->Skip(23);
    EXPECT_EQ(skipped->SaveState(), read->SaveState());
    EXPECT_EQ(skipped->epoch(), read->epoch());
  }
}

TEST(Loader, BatchSizeMayChangeOnResume) {
  LoaderConfig config = TestConfig(Layout::kStream);
  const TokenSet set = SetOf(LoaderCorpus(6));
  const auto small = LoaderOf(set, config);
  Take(small.get(), 5);
  config.rows = 6;
  const auto large = LoaderOf(set, config);
  WT_ASSERT_OK(large->RestoreState(small->SaveState()));
  const auto two = Take(small.get(), 2), one = Take(large.get(), 1);
  for (int64_t r = 0; r < 6; ++r) {
    EXPECT_EQ(RowOf(one[0], 16, r), RowOf(two[static_cast<size_t>(r / 3)], 16, r % 3));
  }
}

TEST(Loader, PoolKeepsOrderUntilItsRowAndThenGivesEachRowOnce) {
  LoaderConfig config = TestConfig(Layout::kStream, 4, 1);
  config.shuffle_pool = 10;
  config.shuffle_from_row = 6;
  const auto loader = LoaderOf(OneRowDocuments(48, 4), config);
  std::vector<int32_t> numbers = RowNumbers(Take(loader.get(), 36), 4);
  for (int32_t i = 0; i < 6; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  // 30 draws read 46 rows, of which 10 are still in the pool. None came before it was read.
  for (size_t i = 6; i < 36; ++i) EXPECT_LT(numbers[i], static_cast<int32_t>(i + 10));
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

TEST(Loader, PoolDrawsDependOnTheSeedAlone) {
  LoaderConfig config = TestConfig(Layout::kStream, 4, 1);
  config.shuffle_pool = 8;
  const TokenSet set = OneRowDocuments(40, 4);
  const auto numbers = [&](uint64_t seed) {
    config.seed = seed;
    return RowNumbers(Take(LoaderOf(set, config).get(), 30), 4);
  };
  EXPECT_EQ(numbers(1), numbers(1));
  EXPECT_NE(numbers(1), numbers(2));
}

TEST(Loader, CountsEpochsAndTokens) {
  const auto loader = LoaderOf(OneRowDocuments(6, 4), TestConfig(Layout::kStream, 4, 2));
  EXPECT_EQ(loader->epoch(), 1);
  std::vector<int64_t> epochs;
  for (const Batch& batch : Take(loader.get(), 7)) epochs.push_back(batch.epoch);
  EXPECT_THAT(epochs, testing::ElementsAre(1, 1, 1, 2, 2, 2, 3));
  EXPECT_EQ(loader->tokens(), 7 * 2 * 4);
}

TEST(Loader, WorksOnTinyCorpora) {
  const PlainDocument longer(100, 5);
  for (const PlainFile& file :
       {PlainFile{{{}}}, PlainFile{{longer}}, PlainFile{{{}, longer, {1}}}}) {
    for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
      LoaderConfig config = TestConfig(layout);
      config.buffer_documents = 1000;
      const auto loader = LoaderOf(SetOf({file}), config);
      const auto batches = Take(loader.get(), 30);
      EXPECT_EQ(batches[0].inputs[0], kTestBos);
      EXPECT_GE(batches.back().epoch, 2);
    }
  }
}

TEST(Loader, NamesTheSettingThatMakesNoSense) {
  const TokenSet set = SetOf(LoaderCorpus(8));
  const auto message = [&](auto change) {
    LoaderConfig config = TestConfig(Layout::kBestFit);
    change(config);
    return MakeLoader(set, config).status().message();
  };
  EXPECT_THAT(message([](auto& c) { c.context = 0; }), HasSubstr("context = 0; expected at least"));
  EXPECT_THAT(message([](auto& c) { c.rows = -1; }), HasSubstr("rows = -1"));
  EXPECT_THAT(message([](auto& c) { c.streams = 2; }), HasSubstr("streams = 2 with layout best"));
  EXPECT_THAT(message([](auto& c) { c.shuffle_pool = -1; }), HasSubstr("shuffle_pool"));
  EXPECT_THAT(message([](auto& c) { c.bos = kTestVocab; }), HasSubstr("BOS id 50"));
  EXPECT_THAT(message([](auto& c) { c.rank = c.world = 100; }), HasSubstr("rank 100 of 100"));
  EXPECT_THAT(message([](auto& c) { c.rank = 99, c.world = 100; }), HasSubstr("no row group"));
}

TEST(Loader, RestoreNamesTheSettingThatDiffers) {
  const TokenSet set = SetOf(LoaderCorpus(9));
  LoaderConfig config = TestConfig(Layout::kStream);
  const std::string state = LoaderOf(set, config)->SaveState();
  config.context = 17;
  const Status status = LoaderOf(set, config)->RestoreState(state);
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_THAT(status.message(), HasSubstr("saved with context = 16, but this run has 17"));
  const auto other_data = LoaderOf(SetOf(LoaderCorpus(10)), TestConfig(Layout::kStream));
  EXPECT_EQ(other_data->RestoreState(state).code(), Code::kMismatch);
}

TEST(Loader, DamagedStatesFailAndChangeNothing) {
  LoaderConfig config = TestConfig(Layout::kBestFit);
  config.shuffle_pool = 4;
  const auto loader = LoaderOf(SetOf(LoaderCorpus(11)), config);
  Take(loader.get(), 5);
  const std::string good = loader->SaveState();
  for (size_t size = 0; size < good.size(); ++size) {
    ASSERT_FALSE(loader->RestoreState(good.substr(0, size)).ok()) << size;
  }
  for (const char* patch : {R"({"rows":-1})", R"({"draws":1.5})", R"({"source":{}})",
                            R"({"pool":[[0]]})", R"({"pool":[[],[],[],[]]})", R"({"pool":7})",
                            R"({"pool":[[99999],[0],[0],[0]]})", R"({"of":3})", R"({"of":null})"}) {
    auto bad = nlohmann::json::parse(good);
    bad.update(nlohmann::json::parse(patch));
    EXPECT_FALSE(loader->RestoreState(bad.dump()).ok()) << patch;
  }
  EXPECT_EQ(loader->SaveState(), good);
}

TEST(Loader, StateIsSmall) {
  Philox random(12, 0);
  LoaderConfig config = TestConfig(Layout::kBestFit, 256);
  config.buffer_documents = 1000;
  config.refill_documents = 128;
  const auto loader = LoaderOf(SetOf(RandomPlainCorpus(&random, 1, 1, 3000, 40, kTestBos)), config);
  Take(loader.get(), 3);
  EXPECT_LT(loader->SaveState().size(), 8000u);
}

TEST(Layout, NamesRoundTrip) {
  for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
    EXPECT_EQ(ParseLayout(LayoutName(layout)).value(), layout);
  }
  EXPECT_THAT(ParseLayout("streams").status().message(), HasSubstr("did you mean stream?"));
}

}  // namespace
}  // namespace wt::text
