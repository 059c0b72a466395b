#include "text/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const RankDocuments> DocumentsOf(const TokenSet& set, int rank = 0, int world = 1) {
  auto documents = RankDocuments::Create(set, kTestBos, rank, world);
  EXPECT_TRUE(documents.ok()) << documents.status().message();
  return std::make_shared<const RankDocuments>(std::move(documents).value());
}

std::vector<int32_t> NextRow(RowSource* rows, int64_t context) {
  RowPlan plan;
  std::vector<int32_t> row(static_cast<size_t>(context + 1));
  if (!rows->Next(&plan)) return {};
  row.resize(static_cast<size_t>(rows->Write(plan, row)));
  return row;
}

std::unique_ptr<RowSource> StreamOf(std::shared_ptr<const RankDocuments> documents,
                                    const StreamOptions& options) {
  return std::move(MakeStreamRows(std::move(documents), options)).value();
}

// A corpus with a different shape for every i: few documents or many, short or long ones.
PlainCorpus PackingCorpus(uint64_t i) {
  Philox random(i, 1);
  const int longest = static_cast<int>(1 + random.NextBelow(60));
  return RandomPlainCorpus(&random, 1 + static_cast<int>(i % 3), 4, 1 + static_cast<int>(i % 40),
                           longest, kTestBos);
}

TEST(RankDocuments, FindsEveryPosition) {
  for (uint64_t i = 0; i < 20; ++i) {
    const PlainCorpus corpus = PackingCorpus(i);
    const auto documents = DocumentsOf(SetOf(corpus));
    const std::vector<int32_t> stream = PlainStream(PlainRankGroups(corpus, kTestBos, 0, 1));
    ASSERT_EQ(documents->tokens(), static_cast<int64_t>(stream.size()));
    std::vector<int32_t> copied(stream.size());
    documents->CopyStream(0, copied);
    EXPECT_EQ(copied, stream);
    for (int64_t p = 0; p < documents->tokens(); ++p) {
      const int64_t ordinal = documents->OrdinalAt(p);
      EXPECT_LE(documents->Position(ordinal), p);
      EXPECT_GT(documents->Position(ordinal + 1), p);
    }
  }
}

TEST(RankDocuments, RanksAreDisjointAndTogetherComplete) {
  // Each document holds its own number, so that a multiset of ids is a multiset of documents.
  PlainCorpus corpus{{{{0}, {1}}, {{2}}, {{3}, {4}}}, {{{5}}, {{6}, {7}}, {{8}}, {{9}}}};
  const TokenSet set = SetOf(corpus);
  std::vector<std::vector<int32_t>> of_rank;
  for (int rank = 0; rank < 3; ++rank) {
    const auto documents = DocumentsOf(set, rank, 3);
    std::vector<int32_t> stream(static_cast<size_t>(documents->tokens()));
    documents->CopyStream(0, stream);
    std::erase(stream, kTestBos);
    of_rank.push_back(stream);
  }
  EXPECT_THAT(of_rank[0], ElementsAre(0, 1, 5, 9));  // groups 0, 3 of each file
  EXPECT_THAT(of_rank[1], ElementsAre(2, 6, 7));
  EXPECT_THAT(of_rank[2], ElementsAre(3, 4, 8));
}

TEST(RankDocuments, SaysWhenARankGetsNothing) {
  const TokenSet set = SetOf({{{{1}}, {{2}}}});
  const auto documents = RankDocuments::Create(set, kTestBos, 2, 8);
  EXPECT_THAT(documents.status().message(), HasSubstr("rank 2 of 8 gets no row group"));
  EXPECT_THAT(documents.status().message(), HasSubstr("use fewer ranks"));
  EXPECT_FALSE(RankDocuments::Create(set, kTestVocab, 0, 1).ok());
  EXPECT_FALSE(RankDocuments::Create(set, kTestBos, 8, 8).ok());
}

TEST(BestFitRows, EqualsThePlainScan) {
  for (uint64_t i = 0; i < 60; ++i) {
    Philox random(i, 2);
    const PlainCorpus corpus = PackingCorpus(i);
    const int world = corpus[0].size() > 1 ? 2 : 1;
    const int rank = static_cast<int>(random.NextBelow(static_cast<uint64_t>(world)));
    const int64_t context = static_cast<int64_t>(1 + random.NextBelow(50));
    const int64_t buffer = static_cast<int64_t>(1 + random.NextBelow(60));
    const int64_t refill = static_cast<int64_t>(1 + random.NextBelow(20));
    const auto rows =
        MakeBestFitRows(DocumentsOf(SetOf(corpus), rank, world), {context, buffer, refill, false});
    PlainBestFit plain(PlainRankGroups(corpus, kTestBos, rank, world), static_cast<size_t>(context),
                       static_cast<size_t>(buffer), static_cast<size_t>(refill));
    for (int row = 0; row < 200; ++row) {
      ASSERT_EQ(NextRow(rows.get(), context), plain.NextRow()) << "corpus " << i << " row " << row;
      ASSERT_EQ(rows->epoch(), plain.epoch()) << "corpus " << i << " row " << row;
    }
  }
}

TEST(BestFitRows, TakesTheFirstOnTies) {
  // Lengths with BOS: 3 3 2 2; context 4, so rows hold 5.
  const TokenSet set = SetOf({{{{1, 1}, {2, 2}, {3}, {4}}}});
  const auto rows = MakeBestFitRows(DocumentsOf(set), {4, 4, 4, true});
  EXPECT_THAT(NextRow(rows.get(), 4), ElementsAre(kTestBos, 1, 1, kTestBos, 3));
  EXPECT_THAT(NextRow(rows.get(), 4), ElementsAre(kTestBos, 2, 2, kTestBos, 4));
  EXPECT_THAT(NextRow(rows.get(), 4), ElementsAre());
}

TEST(BestFitRows, CropsTheShortestWhenNothingFitsAndDropsItsRest) {
  const TokenSet set = SetOf({{{{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}, {3}}}});
  const auto rows = MakeBestFitRows(DocumentsOf(set), {3, 3, 3, true});
  EXPECT_THAT(NextRow(rows.get(), 3), ElementsAre(kTestBos, 3, kTestBos, 2));
  EXPECT_THAT(NextRow(rows.get(), 3), ElementsAre(kTestBos, 1, 1, 1));
  EXPECT_THAT(NextRow(rows.get(), 3), ElementsAre());
}

TEST(BestFitRows, EveryRowIsFullAndOpensWithBos) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto rows = MakeBestFitRows(DocumentsOf(SetOf(PackingCorpus(i))), {30, 10, 4, false});
    for (int row = 0; row < 50; ++row) {
      const std::vector<int32_t> tokens = NextRow(rows.get(), 30);
      ASSERT_EQ(tokens.size(), 31u);
      EXPECT_EQ(tokens[0], kTestBos);
    }
  }
}

TEST(BestFitRows, OncePlacesEveryDocumentExactlyOnce) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto documents = DocumentsOf(SetOf(PackingCorpus(i)));
    const auto rows = MakeBestFitRows(documents, {30, 10, 4, true});
    std::vector<int64_t> placed;
    RowPlan plan;
    while (rows->Next(&plan)) placed.insert(placed.end(), plan.begin(), plan.end());
    std::sort(placed.begin(), placed.end());
    std::vector<int64_t> all(static_cast<size_t>(documents->documents()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(placed, all);
    EXPECT_EQ(rows->epoch(), 1);
  }
}

TEST(StreamRows, CoversTheRepeatedStreamInOrder) {
  for (uint64_t i = 0; i < 20; ++i) {
    const PlainCorpus corpus = PackingCorpus(i);
    const std::vector<int32_t> stream = PlainStream(PlainRankGroups(corpus, kTestBos, 0, 1));
    const int64_t context = static_cast<int64_t>(1 + i * 7 % 40);
    const auto rows = StreamOf(DocumentsOf(SetOf(corpus)), {context, 1, false});
    size_t at = 0;
    for (int row = 0; row < 100; ++row) {
      const std::vector<int32_t> tokens = NextRow(rows.get(), context);
      for (int64_t t = 0; t <= context; ++t) {
        ASSERT_EQ(tokens[static_cast<size_t>(t)],
                  stream[(at + static_cast<size_t>(t)) % stream.size()]);
      }
      at += static_cast<size_t>(context);
      EXPECT_EQ(rows->epoch(), static_cast<int64_t>(1 + (at - 1) / stream.size()));
    }
  }
}

TEST(StreamRows, OnceScoresEveryTokenButTheFirstExactlyOnce) {
  for (const int64_t context : {1, 3, 4, 10, 11, 12, 50}) {
    const PlainCorpus corpus{{{{1, 2, 3}, {4, 5}}, {{6, 7, 8, 9}}}};
    const auto rows = StreamOf(DocumentsOf(SetOf(corpus)), {context, 1, true});
    std::vector<int32_t> targets;
    for (auto row = NextRow(rows.get(), context); !row.empty();
         row = NextRow(rows.get(), context)) {
      targets.insert(targets.end(), row.begin() + 1, row.end());
    }
    EXPECT_THAT(targets, ElementsAre(1, 2, 3, kTestBos, 4, 5, kTestBos, 6, 7, 8, 9)) << context;
  }
}

TEST(StreamRows, StreamsAreConsecutivePartsOfAboutEqualLength) {
  PlainFile file(3, PlainGroup(10, PlainDocument{1, 2, 3, 4}));  // 30 documents of 5 with BOS
  for (size_t d = 0; d < 30; ++d) file[d / 10][d % 10][0] = static_cast<int32_t>(d);
  const auto rows = StreamOf(DocumentsOf(SetOf({file})), {5, 4, false});
  std::vector<int32_t> firsts;  // the number of the document each row opens with
  for (int row = 0; row < 12; ++row) firsts.push_back(NextRow(rows.get(), 5)[1]);
  EXPECT_THAT(firsts, ElementsAre(0, 8, 15, 23, 1, 9, 16, 24, 2, 10, 17, 25));
}

TEST(StreamRows, EveryStreamGetsADocumentHoweverUnequalTheyAre) {
  const PlainDocument giant(500, 3);
  for (size_t at = 0; at < 4; ++at) {
    PlainGroup group(4, PlainDocument{1});
    group[at] = giant;
    const auto rows = StreamOf(DocumentsOf(SetOf({{group}})), {2, 4, false});
    std::vector<int32_t> opened;
    for (int row = 0; row < 4; ++row) opened.push_back(NextRow(rows.get(), 2)[0]);
    EXPECT_THAT(opened, ElementsAre(kTestBos, kTestBos, kTestBos, kTestBos)) << at;
  }
  const auto too_many = MakeStreamRows(DocumentsOf(SetOf({{{{1}, {2}}}})), {2, 3, false});
  EXPECT_THAT(too_many.status().message(), HasSubstr("3 streams, but the rank has 2 documents"));
}

TEST(StreamRows, PartsOfAllStreamsCoverTheCorpusOnceAndInOrder) {
  for (uint64_t i = 0; i < 20; ++i) {
    PlainCorpus corpus = PackingCorpus(i);
    int32_t number = 100;  // each document becomes copies of its number, none of them BOS
    for (PlainFile& file : corpus) {
      for (PlainGroup& group : file) {
        for (PlainDocument& document : group) document.assign(document.size() + 1, number++);
      }
    }
    const auto documents = DocumentsOf(SetOf(corpus));
    const int64_t streams = std::min<int64_t>(documents->documents(), 1 + int64_t(i) % 8);
    const auto rows = StreamOf(documents, {1, streams, false});  // one input, one target
    std::vector<std::vector<int32_t>> met(static_cast<size_t>(streams));
    for (int64_t row = 0; row < (documents->tokens() + 2) * streams; ++row) {
      const std::vector<int32_t> tokens = NextRow(rows.get(), 1);
      if (tokens[0] == kTestBos) met[static_cast<size_t>(row % streams)].push_back(tokens[1]);
    }
    std::vector<int32_t> first_passes, all(static_cast<size_t>(number - 100));
    for (auto& stream : met) {
      const auto again = std::find(stream.begin() + 1, stream.end(), stream[0]);
      first_passes.insert(first_passes.end(), stream.begin(), again);
    }
    std::iota(all.begin(), all.end(), 100);
    EXPECT_EQ(first_passes, all);
  }
}

TEST(RowSource, StatesThatCannotBeAreRefused) {
  const auto documents = DocumentsOf(SetOf(PackingCorpus(7)));
  const auto best_fit = MakeBestFitRows(documents, {30, 10, 4, false});
  const nlohmann::json good = best_fit->SaveState();
  for (const char* key : {"next", "epoch", "buffer"}) {
    for (const char* value : {"-1", "\"x\"", "[-1]", "[1e9]", "1e300", "18446744073709551615",
                              "[1.5]", "{}", "null", "[[]]"}) {
      nlohmann::json bad = good;
      bad[key] = nlohmann::json::parse(value);
      EXPECT_EQ(best_fit->RestoreState(bad).code(), Code::kCorrupt) << key << value;
    }
  }
  const auto stream = StreamOf(documents, {30, 1, false});
  EXPECT_FALSE(stream->RestoreState({{"rows", -1}}).ok());
  EXPECT_FALSE(stream->RestoreState(nlohmann::json()).ok());
  EXPECT_FALSE(stream->CheckPlan({0}).ok());  // no row was taken yet
}

}  // namespace
}  // namespace wt::text
