// Bits per byte on a model whose losses are known, and the choice of sampled tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eval/bpb.h"
#include "eval/sample.h"
#include "text/token_file.h"

namespace wt::eval {
namespace {

using testing::HasSubstr;

// Bytes, one merged token of two bytes and the specials: 261 ids.
text::Tokenizer SmallTokenizer() {
  text::TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.emplace_back(1, static_cast<char>(byte));
  spec.tokens.emplace_back("th");
  spec.special.assign(spec.tokens.size(), false);
  text::AppendSpecials(text::ContestSpecials(), &spec);
  auto tokenizer = text::Tokenizer::Create(spec);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return *tokenizer;
}

text::TokenSet SetOf(const text::Tokenizer& tokenizer, const std::vector<std::string>& documents,
                     int64_t extra_bytes = 0) {
  const std::string path = testing::TempDir() + "wt_eval_test.tokens";
  auto writer = text::TokenFileWriter::Create(path, {tokenizer.vocab_size(), tokenizer.hash(), 0});
  for (const std::string& text : documents) {
    EXPECT_TRUE(
        writer->AddDocument(tokenizer.Encode(text), static_cast<int64_t>(text.size()) + extra_bytes)
            .ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  auto set = text::TokenSet::Open({path});
  EXPECT_TRUE(set.ok()) << set.status().message();
  return std::move(set).value();
}

nn::ModelConfig SmallConfig(const text::Tokenizer& tokenizer) {
  nn::ModelConfig config;
  config.depth = 1;
  config.width = 16;
  config.head_dim = 8;
  config.context = 8;
  config.vocab_size = tokenizer.vocab_size();
  config.head_std = 0;  // all logits 0: every token costs ln(vocab) nats
  return config;
}

Result<BpbResult> Evaluate(const nn::ModelConfig& config, const text::Tokenizer& tokenizer,
                           const text::TokenSet& set, int64_t rows) {
  nn::TensorStore weights;
  auto program = nn::MakeScoreProgram(config, nn::BuildGpt, 1, config.context);
  EXPECT_TRUE(program.ok() && weights.Prepare(program->program).ok());
  weights.Initialize(program->program, 1);
  BpbOptions options;
  options.tokens = 1000;
  options.context = config.context;
  options.rows = rows;
  return EvaluateBpb(config, nn::BuildGpt, &weights, set, tokenizer, options);
}

TEST(BpbTest, AUniformModelCostsLnOfTheVocabularyPerScoredToken) {
  const text::Tokenizer tokenizer = SmallTokenizer();
  const std::vector<std::string> documents = {"the path", "mouth", "a thin moth"};
  const text::TokenSet set = SetOf(tokenizer, documents);
  int64_t bytes = 0;
  for (const std::string& text : documents) bytes += static_cast<int64_t>(text.size());
  for (const int64_t rows : {1, 3}) {
    const auto result = Evaluate(SmallConfig(tokenizer), tokenizer, set, rows);
    ASSERT_TRUE(result.ok()) << result.status().message();
    // The stream opens with BOS, which is an input only; the other BOS are targets that cost
    // nothing.
    EXPECT_EQ(result->totals.bytes, bytes);
    EXPECT_EQ(result->totals.tokens, set.tokens());
    const double nats = static_cast<double>(set.tokens()) * std::log(tokenizer.vocab_size());
    EXPECT_NEAR(result->totals.nats, nats, 1e-4 * nats);
    EXPECT_NEAR(result->val_bpb(), nats / (std::log(2.0) * static_cast<double>(bytes)), 1e-4);
    EXPECT_TRUE(result->short_of_tokens);
  }
}

TEST(BpbTest, TokensThatDoNotStandForTheirTextAreRefused) {
  const text::Tokenizer tokenizer = SmallTokenizer();
  const text::TokenSet set = SetOf(tokenizer, {"the path", "mouth"}, /*extra_bytes=*/1);
  const auto result = Evaluate(SmallConfig(tokenizer), tokenizer, set, 1);
  EXPECT_EQ(result.status().code(), Code::kMismatch);
}

TEST(SampleTest, GreedyTakesTheFirstOfTheMostProbable) {
  Philox random(1, 0);
  const std::vector<float> logits = {0.5f, 2.0f, 2.0f, -1.0f};
  EXPECT_EQ(PickToken(logits, {0.0, 0, 1, 1}, &random), 1);
}

TEST(SampleTest, DrawsFollowTheProbabilities) {
  Philox random(1, 0);
  const std::vector<float> logits = {std::log(1.0f), std::log(3.0f), std::log(6.0f)};
  std::vector<int> counts(3);
  for (int i = 0; i < 10000; ++i)
    ++counts[static_cast<size_t>(PickToken(logits, {1.0, 0, 1, 1}, &random))];
  EXPECT_NEAR(counts[0], 1000, 150);
  EXPECT_NEAR(counts[2], 6000, 250);
}

TEST(SampleTest, TopKLeavesTheRestOut) {
  Philox random(1, 0);
  const std::vector<float> logits = {1.0f, 1.1f, 1.2f};
  for (int i = 0; i < 200; ++i) EXPECT_NE(PickToken(logits, {1.0, 2, 1, 1}, &random), 0);
}

TEST(SampleTest, TopPLeavesTheRestOut) {
  Philox random(1, 0);
  const std::vector<float> logits = {std::log(1.0f), std::log(3.0f), std::log(6.0f)};
  for (int i = 0; i < 200; ++i) {
    EXPECT_NE(PickToken(logits, {1.0, 0, 0.85, 1}, &random), 0);
    EXPECT_EQ(PickToken(logits, {1.0, 0, 0.5, 1}, &random), 2);
  }
}

}  // namespace
}  // namespace wt::eval
