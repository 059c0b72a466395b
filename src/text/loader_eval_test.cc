#include "text/loader_eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

EvalConfig Config(Layout layout, int64_t total_tokens, int ranks, int64_t rows = 4) {
  EvalConfig config;
  config.layout = layout;
  config.context = 16;
  config.rows = rows;
  config.total_tokens = total_tokens;
  config.ranks = ranks;
  config.bos = kTestBos;
  config.buffer_documents = 20;
  config.refill_documents = 7;
  return config;
}

EvalBatches BatchesOf(const TokenSet& set, const EvalConfig& config) {
  auto batches = EvalBatches::Create(set, config);
  EXPECT_TRUE(batches.ok()) << batches.status().message();
  return std::move(batches).value();
}

// All (input, target) pairs that are not padding.
std::vector<std::pair<int32_t, int32_t>> Scored(EvalBatches* batches) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  Batch batch;
  while (batches->Next(&batch)) {
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      if (batch.targets[i] >= 0) pairs.emplace_back(batch.inputs[i], batch.targets[i]);
    }
  }
  return pairs;
}

TokenSet LargeSet() {
  Philox random(1, 0);
  PlainFile file(24);  // every rank of 8 gets three groups of 60 documents
  for (PlainGroup& group : file) {
    group.resize(60);
    for (PlainDocument& document : group) {
      document.resize(random.NextBelow(60));
      for (int32_t& id : document) id = static_cast<int32_t>(random.NextBelow(kTestBos));
    }
  }
  return SetOf({file});
}

TEST(EvalBatches, LoopingOverRanksGivesWhatTheRanksTogetherRead) {
  const TokenSet set = LargeSet();
  for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
    for (const int ranks : {1, 8}) {
      auto batches = BatchesOf(set, Config(layout, 8 * 16 * 12, ranks, 4));
      Batch got, expected;
      for (int rank = 0; rank < ranks; ++rank) {
        LoaderConfig config = TestConfig(layout, 16, 4);
        config.rank = rank;
        config.world = ranks;
        const auto loader = LoaderOf(set, config);
        for (int64_t row = 0; row < 8 * 12 / ranks; row += 4) {
          loader->Next(&expected);
          ASSERT_TRUE(batches.Next(&got));
          ASSERT_TRUE(SameBatch(got, expected)) << LayoutName(layout) << rank << " " << row;
        }
      }
      EXPECT_FALSE(batches.Next(&got));
      EXPECT_EQ(batches.tokens(), 8 * 16 * 12);
      EXPECT_FALSE(batches.short_of_tokens());
    }
  }
}

TEST(EvalBatches, ScoresTheSameTokensAtAnyBatchSize) {
  const TokenSet set = LargeSet();
  for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
    auto one = BatchesOf(set, Config(layout, 8 * 16 * 5, 8, 1));
    auto many = BatchesOf(set, Config(layout, 8 * 16 * 5, 8, 7));
    EXPECT_EQ(Scored(&one), Scored(&many));
    EXPECT_EQ(many.tokens(), 8 * 16 * 5);
  }
}

TEST(EvalBatches, RoundsTheRequestDownToWholeRowsOfEachRank) {
  auto batches = BatchesOf(LargeSet(), Config(Layout::kStream, 8 * 16 * 5 + 100, 8));
  EXPECT_EQ(batches.planned_tokens(), 8 * 16 * 5);
  EXPECT_EQ(Scored(&batches).size(), 8u * 16 * 5);
}

TEST(EvalBatches, ResetGivesTheSameAgain) {
  auto batches = BatchesOf(LargeSet(), Config(Layout::kBestFit, 1000, 2));
  const auto first = Scored(&batches);
  batches.Reset();
  EXPECT_EQ(batches.tokens(), 0);
  EXPECT_EQ(Scored(&batches), first);
}

TEST(EvalBatches, ShortSetsStopAtTheEndOfTheirEpoch) {
  const TokenSet set = SetOf({{{{1, 2, 3}, PlainDocument(40, 4)}, {{5, 6}}, {{7}}}});
  auto stream = BatchesOf(set, Config(Layout::kStream, 1 << 20, 1));
  EXPECT_EQ(Scored(&stream).size(), 46u + 4 - 1);  // every token with BOS but the first
  EXPECT_EQ(stream.tokens(), 49);
  EXPECT_TRUE(stream.short_of_tokens());
  auto ranks = BatchesOf(set, Config(Layout::kStream, 1 << 20, 3));
  EXPECT_EQ(Scored(&ranks).size(), 46u + 4 - 3);
  auto best_fit = BatchesOf(set, Config(Layout::kBestFit, 1 << 20, 1));
  const auto scored = Scored(&best_fit);
  EXPECT_EQ(static_cast<int64_t>(scored.size()), best_fit.tokens());
  EXPECT_EQ(std::count(scored.begin(), scored.end(), std::pair(5, 6)), 1);
}

TEST(EvalBatches, PadsTheLastBatchWithIgnoredTargets) {
  auto batches = BatchesOf(SetOf({{{PlainDocument(20, 3)}}}), Config(Layout::kStream, 999, 1, 4));
  Batch batch;
  ASSERT_TRUE(batches.Next(&batch));
  ASSERT_EQ(batch.targets.size(), 4u * 16);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(batch.targets[i], i < 20 ? 3 : -1);
    EXPECT_EQ(batch.inputs[i], i == 0 || i > 20 ? kTestBos : 3);
  }
  EXPECT_FALSE(batches.Next(&batch));
}

TEST(EvalBatches, ExplainsWhatCannotBeEvaluated) {
  const TokenSet set = SetOf({{{{1}}, {{2}}}});
  const auto message = [&](const EvalConfig& config) {
    return EvalBatches::Create(set, config).status().message();
  };
  EXPECT_THAT(message(Config(Layout::kStream, 1000, 8)),
              HasSubstr("rank 2 of 8 gets no row group"));
  EXPECT_THAT(message(Config(Layout::kStream, 100, 8)), HasSubstr("ask for at least 128"));
  EXPECT_THAT(message(Config(Layout::kStream, 1000, 0)), HasSubstr("ranks 0"));
}

}  // namespace
}  // namespace wt::text
