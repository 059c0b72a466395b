// CORE's rules one by one, and the shared scorer against its plain twin.
#include "eval/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/files.h"
#include "base/home.h"
#include "base/random.h"

namespace wt::eval {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

text::Tokenizer ByteTokenizer() {
  text::TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.emplace_back(1, static_cast<char>(byte));
  spec.special.assign(spec.tokens.size(), false);
  text::AppendSpecials(text::ContestSpecials(), &spec);
  auto tokenizer = text::Tokenizer::Create(spec);
  WT_CHECK(tokenizer.ok(), "{}", tokenizer.status().message());
  return *tokenizer;
}

CoreTask TaskOf(CoreKind kind, int64_t shots) {
  CoreTask task;
  task.kind = kind;
  task.shots = shots;
  task.label = "a_task";
  return task;
}

CoreExample Choice(const std::string& query, std::vector<std::string> choices, int64_t gold) {
  return {query, "", std::move(choices), gold};
}

TEST(CorePromptsTest, StripsWhatPythonStrips) {
  EXPECT_EQ(PythonStrip(" \n\tone two\u00a0\u2003\x1c "), "one two");
  EXPECT_EQ(PythonStrip("\u3000 "), "");
  EXPECT_EQ(PythonStrip("\u200bx"), "\u200bx");  // zero-width space is none
}

TEST(CorePromptsTest, ChoicesShareTheirFirstTokens) {
  const auto tokenizer = ByteTokenizer();
  const std::vector<CoreExample> examples = {Choice("Q ", {"abc", "abd", "abcd"}, 1)};
  const CoreTask task = TaskOf(CoreKind::kMultipleChoice, 0);
  EXPECT_THAT(RenderCorePrompts(examples, 0, task), ElementsAre("Q  abc", "Q  abd", "Q  abcd"));
  const auto question = MakeCoreQuestion(examples, 0, task, tokenizer, {0, 100});
  ASSERT_TRUE(question.ok()) << question.status().message();
  EXPECT_EQ(question->gold, 1);
  EXPECT_EQ(question->prompts[0].tokens[0], tokenizer.bos());
  EXPECT_EQ(question->prompts[0].begin, 6);  // BOS and "Q  ab"
  EXPECT_EQ(question->prompts[2].end, 8);
}

TEST(CorePromptsTest, TheAnswerTakesTheDelimitersSpace) {
  CoreTask task = TaskOf(CoreKind::kLanguageModeling, 0);
  task.delimiter = "\nAnswer: ";
  const std::vector<CoreExample> examples = {{" who? ", "me", {}, 0}};
  EXPECT_THAT(RenderCorePrompts(examples, 0, task),
              ElementsAre("who?\nAnswer:", "who?\nAnswer: me"));
  const auto question = MakeCoreQuestion(examples, 0, task, ByteTokenizer(), {0, 100});
  ASSERT_TRUE(question.ok()) << question.status().message();
  ASSERT_EQ(question->prompts.size(), 1u);
  EXPECT_EQ(question->prompts[0].end - question->prompts[0].begin, 3);  // " me"
}

TEST(CorePromptsTest, SchemasScoreTheCommonEnding) {
  const CoreTask task = TaskOf(CoreKind::kSchema, 0);
  const std::vector<CoreExample> examples = {{"", "ran", {"the cat", "the old dog"}, 0}};
  const auto question = MakeCoreQuestion(examples, 0, task, ByteTokenizer(), {0, 100});
  ASSERT_TRUE(question.ok()) << question.status().message();
  for (const CorePrompt& p : question->prompts) EXPECT_EQ(p.end - p.begin, 4);  // " ran"
}

TEST(CorePromptsTest, ShotsAreOtherExamplesWithTheirAnswers) {
  const CoreTask task = TaskOf(CoreKind::kMultipleChoice, 2);
  std::vector<CoreExample> examples;
  for (const char* name : {"a", "b", "c"}) examples.push_back(Choice(name, {"0", "1"}, 1));
  const std::string text = RenderCorePrompts(examples, 1, task)[0];
  EXPECT_THAT(text, HasSubstr("a 1\n\n"));
  EXPECT_THAT(text, HasSubstr("c 1\n\n"));
  EXPECT_TRUE(text.ends_with("\n\nb 0"));
  examples.resize(2);
  const auto question = MakeCoreQuestion(examples, 1, task, ByteTokenizer(), {0, 100});
  EXPECT_THAT(question.status().message(), HasSubstr("too few"));
}

TEST(CorePromptsTest, LongPromptsAreCutOrRefused) {
  const CoreTask task = TaskOf(CoreKind::kMultipleChoice, 0);
  const std::vector<CoreExample> examples = {Choice("0123456789", {"a", "b"}, 1)};
  const auto tokenizer = ByteTokenizer();
  EXPECT_EQ(MakeCoreQuestion(examples, 0, task, tokenizer, {0, 12}).status().code(),
            Code::kInvalidArgument);
  const auto cut = MakeCoreQuestion(examples, 0, task, tokenizer, {4, 12});
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  EXPECT_EQ(cut->prompts[1].tokens, (std::vector<int32_t>{'8', '9', ' ', 'b'}));
  EXPECT_EQ(cut->prompts[1].begin, 3);
  EXPECT_EQ(MakeCoreQuestion(examples, 0, task, tokenizer, {1, 12}).status().code(),
            Code::kInvalidArgument);
}

int64_t Chosen(const std::vector<double>& means) {
  std::vector<PromptScore> scores;
  for (double mean : means) scores.push_back({mean, true});
  return Choose(CoreKind::kMultipleChoice, {}, scores).chosen;
}

TEST(CoreChoiceTest, TakesTheFirstSmallestAsPythonsMinDoes) {
  EXPECT_EQ(Chosen({2, 1, 1}), 1);
  EXPECT_EQ(Chosen({kNaN, 1, 0}), 0);
  EXPECT_EQ(Chosen({2, kNaN, 1}), 2);
}

// Questions with much in common, with empty spans and with spans across the shared part.
std::vector<CorePrompt> RandomPrompts(Philox& random, int64_t vocab) {
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random.NextBelow(n)); };
  std::vector<CorePrompt> prompts;
  for (int64_t i = 0; i < 40; ++i) {
    CorePrompt prompt;
    if (i > 0 && below(4) > 0) {
      const CorePrompt& other = prompts[static_cast<size_t>(below(static_cast<uint64_t>(i)))];
      prompt.tokens.assign(other.tokens.begin(),
                           other.tokens.begin() + below(other.tokens.size()) + 1);
    }
    const int64_t more = 2 + below(below(3) == 0 ? 400 : 12);
    for (int64_t k = 0; k < more; ++k) {
      prompt.tokens.push_back(static_cast<int32_t>(below(static_cast<uint64_t>(vocab))));
    }
    const auto size = static_cast<uint64_t>(prompt.tokens.size());
    prompt.begin = 1 + below(size - 1);
    prompt.end = prompt.begin + below(size - static_cast<uint64_t>(prompt.begin) + 1);
    prompts.push_back(prompt);
  }
  return prompts;
}

TEST(CoreScoreTest, SharedScoresAreThePlainOnes) {
  nn::ModelConfig config;
  config.depth = 2;
  config.width = 64;
  config.head_dim = 16;
  config.kv_heads = 2;
  config.window_pattern = "SL";
  config.short_window = 50;
  config.conv_taps = 3;
  config.smear_channels = 8;
  config.value_embedding_layers = {-1};
  config.value_embedding_gate = 8;
  config.out_scale = 1;
  config.head_std = 0.3;
  config.vocab_size = 70;
  config.context = 128;
  constexpr int64_t kLongest = 1024;
  nn::TensorStore weights;
  const auto program = nn::MakeLogitsProgram(config, nn::BuildGpt, 1, 8);
  ASSERT_TRUE(program.ok() && weights.Prepare(program->program).ok());
  weights.Initialize(program->program, 5);
  *reinterpret_cast<float*>(weights.Find("smear.lambda")->buffer.data()) = 0.5f;
  auto shared = SharedScorer::Create(config, nn::BuildGpt, &weights, kLongest);
  auto plain = PlainScorer::Create(config, nn::BuildGpt, &weights, kLongest);
  ASSERT_TRUE(shared.ok() && plain.ok());
  Philox random(3, 0);
  for (int round = 0; round < 4; ++round) {
    const std::vector<CorePrompt> prompts = RandomPrompts(random, config.vocab_size);
    std::vector<const CorePrompt*> pointers;
    for (const CorePrompt& p : prompts) {
      if (p.tokens.size() <= kLongest) pointers.push_back(&p);
    }
    const auto a = (*shared)->Score(pointers), b = (*plain)->Score(pointers);
    ASSERT_TRUE(a.ok()) << a.status().message();
    ASSERT_TRUE(b.ok()) << b.status().message();
    for (size_t i = 0; i < pointers.size(); ++i) {
      const double x = (*a)[i].mean_nll, y = (*b)[i].mean_nll;
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << x << " and " << y;
      EXPECT_EQ((*a)[i].all_right, (*b)[i].all_right);
    }
  }
}

TEST(CoreTasksTest, TheListIsWhole) {
  const auto tasks = LoadCoreTasks(HomeFolder());
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  ASSERT_EQ(tasks->size(), 22u);
  EXPECT_EQ((*tasks)[1].delimiter, "\nAnswer: ");
  EXPECT_EQ((*tasks)[21].baseline, 9.1);
  for (const CoreTask& task : *tasks) EXPECT_EQ(task.git_blob.size(), 40u) << task.label;
}

TEST(CoreTasksTest, WrongFilesAreNamed) {
  const std::string folder = testing::TempDir() + "wt_core_bundle";
  std::filesystem::create_directories(folder + "/eval_data");
  ASSERT_TRUE(WriteFileAtomic(folder + "/eval_data/a.jsonl", "hello\n").ok());
  CoreTask task = TaskOf(CoreKind::kMultipleChoice, 0);
  task.file = "a.jsonl";
  task.git_blob = "ce013625030ba8dba906f756967f9e9ca394464a";  // of "hello\n"
  EXPECT_TRUE(ReadCoreFile(folder, task).ok());
  task.git_blob[0] = 'd';
  EXPECT_EQ(ReadCoreFile(folder, task).status().code(), Code::kMismatch);
  task.file = "b.jsonl";
  EXPECT_EQ(ReadCoreFile(folder, task).status().code(), Code::kNotFound);
  EXPECT_EQ(FindBundle(folder + "/eval_data").status().code(), Code::kNotFound);
}

TEST(CoreTasksTest, WrongLinesAreNamed) {
  const CoreTask task = TaskOf(CoreKind::kMultipleChoice, 0);
  for (const char* line : {"{", "{\"query\": 3}", "{\"query\": \"q\", \"choices\": []}",
                           "{\"query\": \"q\", \"choices\": [\"a\"], \"gold\": 1}"}) {
    const std::string good = "{\"query\": \"q\", \"choices\": [\"a\", \"b\"], \"gold\": 1}\n";
    const auto examples = ParseCoreExamples(good + line + "\n", task);
    EXPECT_EQ(examples.status().code(), Code::kCorrupt) << line;
    EXPECT_THAT(examples.status().message(), HasSubstr("line 2"));
  }
}

}  // namespace
}  // namespace wt::eval
