#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "text/bpe_count.h"
#include "text/bpe_merges.h"
#include "text/bpe_model.h"
#include "text/bpe_train.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

std::vector<std::string> ByteTokens() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  return tokens;
}

// Words of few letters, so that pairs repeat and overlap.
std::string RandomWord(Philox* random, int letters, int max_length) {
  std::string word(1 + random->NextBelow(max_length), 'a');
  for (char& c : word) c = static_cast<char>('a' + random->NextBelow(letters));
  return word;
}

TEST(PairMap, FindsWhatWasPutAndNothingElse) {
  PairMap map;
  for (int i = 0; i < 5000; ++i) map.At(i % 71, i) = i;
  EXPECT_EQ(map.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(map.Find(i % 71, i), static_cast<uint32_t>(i));
  EXPECT_EQ(map.Find(72, 5), PairMap::kNone);
}

TEST(BpeModel, ShortAndLongMergingEqualTheDefinition) {
  Philox random(3, 0);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::string> tokens = ByteTokens();
    std::map<std::string, int32_t> ranks;
    for (int i = 0; i < 40; ++i) {
      std::string word = RandomWord(&random, 3, 5);
      if (std::find(tokens.begin(), tokens.end(), word) == tokens.end()) tokens.push_back(word);
    }
    for (size_t id = 0; id < tokens.size(); ++id) ranks[tokens[id]] = static_cast<int32_t>(id);
    const auto model = BpeModel::Build(tokens, MergeRule::kByRank, {});
    ASSERT_TRUE(model.ok()) << model.status().message();
    MergeScratch scratch;
    for (int i = 0; i < 50; ++i) {
      const std::string piece = "z" + RandomWord(&random, 3, 200);  // z: never a whole token
      std::vector<int32_t> with_shift, with_heap;
      model->MergeShort(piece, &scratch, &with_shift);
      model->MergeLong(piece, &scratch, &with_heap);
      ASSERT_EQ(with_shift, NaiveMerge(ranks, piece)) << piece;
      ASSERT_EQ(with_heap, with_shift) << piece;
    }
  }
}

TEST(BpeModel, EmptyAndSingleBytePieces) {
  const auto model = BpeModel::Build(ByteTokens(), MergeRule::kByRank, {});
  MergeScratch scratch;
  std::vector<int32_t> ids;
  model->MergeShort("", &scratch, &ids);
  model->MergeLong("", &scratch, &ids);
  EXPECT_TRUE(ids.empty());
  model->MergeLong("\xFF", &scratch, &ids);
  EXPECT_EQ(ids, std::vector<int32_t>{255});
}

TEST(BpeModel, ListedMergesAreTheOnlyOnes) {
  std::vector<std::string> tokens = ByteTokens();
  for (const char* t : {"bc", "ab", "abc"}) tokens.push_back(t);
  // (ab, c) is not listed, so "abc" stays two tokens unless bc comes first.
  const auto model =
      BpeModel::Build(tokens, MergeRule::kByList, {{'a', 'b'}, {'b', 'c'}, {'a', 256}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  MergeScratch scratch;
  std::vector<int32_t> ids;
  model->Merge("abc", &scratch, &ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{257, 'c'}));
}

TEST(BpeModel, BuildRefusesBrokenVocabularies) {
  const auto message = [](std::vector<std::string> tokens, std::vector<MergePair> merges = {}) {
    const auto rule = merges.empty() ? MergeRule::kByRank : MergeRule::kByList;
    return BpeModel::Build(tokens, rule, merges).status().message();
  };
  std::vector<std::string> tokens = ByteTokens();
  EXPECT_EQ(message(tokens), "");
  tokens[65] = "";
  EXPECT_THAT(message(tokens), HasSubstr("byte 0x41 has no token"));
  tokens = ByteTokens();
  tokens.push_back("A");
  EXPECT_THAT(message(tokens), HasSubstr("ids 65 and 256 are both \"A\""));
  tokens.back() = "ab";
  EXPECT_THAT(message(tokens, {{'a', 'c'}}), HasSubstr("which is no token"));
  EXPECT_THAT(message(tokens, {{'a', 999}}), HasSubstr("ids 97 and 999"));
  EXPECT_THAT(message(tokens, {{'a', -1}}), HasSubstr("ids 97 and -1"));
  EXPECT_THAT(message(tokens, {{'a', 'b'}, {'a', 'b'}}), HasSubstr("merge 1 repeats merge 0"));
}

TEST(PieceCounter, CountsAndMergesAndSorts) {
  Philox random(5, 0);
  std::map<std::string, int64_t> expected;
  PieceCounter a, b;
  for (int i = 0; i < 20000; ++i) {
    const std::string word = RandomWord(&random, 5, 6);
    ++expected[word];
    (i % 3 == 0 ? a : b).Add(word);
  }
  a.AddAll(b);
  a.Add("");
  std::map<std::string, int64_t> got;
  std::string last;
  for (const auto& [piece, count] : a.Sorted()) {
    EXPECT_LT(last, piece);
    last = piece;
    got[last] = count;
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(a.size(), expected.size());
}

// Training as its definition reads: recount all pairs before every merge.
std::vector<std::string> NaiveTokens(const std::map<std::string, int64_t>& pieces, size_t wanted) {
  std::vector<std::string> tokens = ByteTokens();
  std::vector<std::pair<std::vector<int32_t>, int64_t>> words;
  for (const auto& [piece, count] : pieces) {
    std::vector<int32_t> ids;
    for (const char c : piece) ids.push_back(static_cast<uint8_t>(c));
    words.push_back({ids, count});
  }
  while (tokens.size() < wanted) {
    std::map<std::pair<int32_t, int32_t>, int64_t> counts;
    for (const auto& [ids, count] : words)
      for (size_t i = 0; i + 1 < ids.size(); ++i) counts[{ids[i], ids[i + 1]}] += count;
    if (counts.empty()) break;
    auto best = counts.begin();  // the map is in tie order
    for (auto it = counts.begin(); it != counts.end(); ++it)
      if (it->second > best->second) best = it;
    const std::pair<int32_t, int32_t> pair = best->first;
    const std::string joined = tokens[pair.first] + tokens[pair.second];
    const auto known = std::find(tokens.begin(), tokens.end(), joined);
    const auto merged = static_cast<int32_t>(known - tokens.begin());
    if (known == tokens.end()) tokens.push_back(joined);
    for (auto& [ids, count] : words) {
      std::vector<int32_t> out;
      for (size_t i = 0; i < ids.size(); ++i) {
        const bool hit = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
        out.push_back(hit ? merged : ids[i]);
        i += hit ? 1 : 0;
      }
      ids = out;
    }
  }
  return tokens;
}

TEST(PairMerger, EqualsTheDefinition) {
  Philox random(11, 0);
  for (int round = 0; round < 40; ++round) {
    PieceCounter counter;
    std::map<std::string, int64_t> pieces;
    for (int i = 0; i < 60; ++i) {
      const std::string word = RandomWord(&random, 2 + round % 3, 14);
      const auto count = static_cast<int64_t>(1 + random.NextBelow(4));  // many ties
      counter.Add(word, count);
      pieces[word] += count;
    }
    const size_t wanted = 256 + 80;
    PairMerger merger(counter.Sorted());
    while (merger.tokens().size() < wanted && merger.Step()) {
    }
    ASSERT_EQ(merger.tokens(), NaiveTokens(pieces, wanted)) << "round " << round;
  }
}

TEST(PairMerger, TiesGoToTheSmallerIds) {
  PieceCounter counter;
  for (const char* piece : {"cd", "ab", "ac"}) counter.Add(piece);
  PairMerger merger(counter.Sorted());
  while (merger.Step()) {
  }
  const std::vector<std::string> made(merger.tokens().begin() + 256, merger.tokens().end());
  EXPECT_THAT(made, testing::ElementsAre("ab", "ac", "cd"));
}

TEST(TrainBpe, LearnsTheMostFrequentPairs) {
  BpeTrainOptions options;
  options.vocab_size = 256 + 3 + 4;
  const auto made = TrainBpe(options, SourceOf({"low low low lower", " low"}));
  ASSERT_TRUE(made.ok()) << made.status().message();
  // l+o, lo+w, then blank+low: 5, 5 and 4 times.
  EXPECT_EQ(made->TokenBytes(256), "lo");
  EXPECT_EQ(made->TokenBytes(257), "low");
  EXPECT_EQ(made->TokenBytes(258), " low");
  EXPECT_EQ(made->bos(), 259);
  EXPECT_EQ(made->SpecialName(259), "<|reserved_0|>");
}

TEST(TrainBpe, SameVocabularyOnAnyNumberOfThreads) {
  const int before = Threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 2, 5}) {
    SetThreads(threads);
    hashes.push_back(SmallTokenizer(700).hash());
  }
  SetThreads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(TrainBpe, DocumentsAreCutAtCharacters) {
  BpeTrainOptions options;
  options.vocab_size = 256 + 1 + 4;
  options.max_document_chars = 3;
  // Only "ééé" of the document counts; in bytes the cut would fall inside the second é.
  const auto made = TrainBpe(options, SourceOf({"éééxyxyxyxyxyxy"}));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->TokenBytes(256), "é");
}

TEST(TrainBpe, ReadingStopsAfterTheDocumentThatPassesTheLimit) {
  BpeTrainOptions options;
  options.vocab_size = 256 + 1;
  options.specials = {};
  options.max_chars = 5;
  int given = 0;
  const auto made = TrainBpe(options, [&](std::string* document) {
    *document = "abc";
    return Result<bool>(++given < 100);
  });
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(given, 2);
  EXPECT_EQ(made->bos(), -1);
}

TEST(TrainBpe, TooLittleTextIsAnErrorThatSaysSo) {
  BpeTrainOptions options;
  const auto made = TrainBpe(options, SourceOf({"abc"}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(made.status().message(), HasSubstr("yields 258 tokens"));
}

TEST(TrainBpe, BadOptionsAndFailingSourcesAreReported) {
  BpeTrainOptions options;
  options.vocab_size = 259;
  EXPECT_THAT(TrainBpe(options, SourceOf({})).status().message(), HasSubstr("vocab_size 259"));
  options.vocab_size = 300;
  options.max_chars = 0;
  EXPECT_THAT(TrainBpe(options, SourceOf({})).status().message(), HasSubstr("max_chars 0"));
  options.max_chars = 10;
  options.specials = {"<|a|>", "<|a|>"};
  options.vocab_size = 258;
  EXPECT_THAT(TrainBpe(options, SourceOf({"ab"})).status().message(), HasSubstr("taken already"));
  const auto failing = [](std::string*) { return Result<bool>(Error(Code::kIo, "gone")); };
  EXPECT_EQ(TrainBpe(options, failing).status().code(), Code::kIo);
}

TEST(TrainBpe, ProgressCanStopIt) {
  BpeTrainOptions options;
  options.vocab_size = 2048;
  std::vector<std::string> documents = {RandomText(1, 4000)};
  for (const bool stop_merging : {false, true}) {
    options.progress = [=](const BpeTrainProgress& p) { return p.merging != stop_merging; };
    const auto made = TrainBpe(options, SourceOf(documents));
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), Code::kInterrupted);
  }
}

}  // namespace
}  // namespace wt::text
