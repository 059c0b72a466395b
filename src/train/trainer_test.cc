// The training loop on a model of a few thousand parameters: it learns, stops in time under any
// slowness, and goes on after an interruption as if there had been none.
#include "train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "text/token_file.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int64_t kVocab = 300, kBos = 299, kUsed = 39;

// One folder for all runs of this program, removed at its end.
std::string TestFolder(const std::string& name) {
  static const TempFolder parent;
  const std::string folder = parent / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

// Text with something to learn: most tokens follow from the one before.
text::TokenSet TestData() {
  static const std::string path = TestFolder("data") + "/train.tokens";
  if (!FileExists(path)) {
    auto writer = text::TokenFileWriter::Create(path, {kVocab, std::string(64, 'a'), 16});
    Philox random(3, 0);
    for (int document = 0; document < 64; ++document) {
      std::vector<int32_t> ids = {static_cast<int32_t>(random.NextBelow(kUsed))};
      while (ids.size() < 200) {
        const bool surprise = random.NextBelow(8) == 0;
        ids.push_back(surprise ? static_cast<int32_t>(random.NextBelow(kUsed))
                               : (ids.back() * 7 + 3) % kUsed);
      }
      EXPECT_TRUE(writer->AddDocument(ids, 200).ok());
    }
    EXPECT_TRUE(writer->Finish().ok());
  }
  auto set = text::TokenSet::Open({path});
  EXPECT_TRUE(set.ok()) << set.status().message();
  return std::move(set).value();
}

Recipe TestRecipe(const std::string& more = "") {
  auto recipe = ParseRecipe(R"(
[model]
depth = 2
width = 16
head_dim = 8
[schedule]
by = "steps"
momentum_warmup = 10
[data]
vocab_size = 300
context = 16
streams = 2
shuffle_pool = 4
layout = "stream"
[train]
budget = "100h"
steps = 12
tokens_per_step = 64
rows_per_core = 2
save_every = 0
)" + more,
                            "test");
  EXPECT_TRUE(recipe.ok()) << recipe.status().message();
  return *recipe;
}

TrainJob JobOf(const Recipe& recipe) {
  TrainJob job;
  job.recipe = recipe;
  job.model = nn::BuildGpt;
  job.data = TestData();
  job.bos = kBos;
  job.time = SystemTime();
  job.start = job.time.monotonic();
  job.progress.width = [] { return 80; };
  job.progress.now = [] { return 0.0; };
  job.progress.write = [](std::string_view) {};
  return job;
}

Result<TrainSummary> Train(TrainJob job, const std::string& folder) {
  Result<RunFolder> run =
      job.resume ? RunFolder::Open(folder) : RunFolder::Create(folder, job.recipe);
  if (!run.ok()) return run.status();
  WT_ASSIGN_OR_RETURN(Trainer trainer, Trainer::Create(std::move(job), std::move(*run)));
  return trainer.Run();
}

std::string WeightsAndState(const std::string& folder) {
  return ReadFile(folder + "/checkpoint/model.safetensors").value() +
         ReadFile(folder + "/checkpoint/optimizer.safetensors").value();
}

TEST(TrainerTest, LearnsAndWritesWhatARunFolderHolds) {
  Recipe recipe = TestRecipe();
  recipe.train.steps = 150;
  const std::string folder = TestFolder("learns") + "/run";
  const auto summary = Train(JobOf(recipe), folder);
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->steps, 150);
  EXPECT_EQ(summary->stopped, StopReason::kSteps);
  EXPECT_LT(summary->loss, 2.2);  // random is ln 300 = 5.7; the surprises alone cost about 0.8
  for (const char* name : {"recipe.toml", "ledger.jsonl", "log.jsonl", "checkpoint/state.json"}) {
    EXPECT_TRUE(FileExists(folder + "/" + name)) << name;
  }
}

TEST(TrainerTest, SameBitsAtAnyThreadCount) {
  std::string first;
  for (int threads : {1, 2, 3}) {
    SetThreads(threads);
    const std::string folder = TestFolder("threads") + "/run";
    ASSERT_TRUE(Train(JobOf(TestRecipe()), folder).ok());
    if (first.empty()) first = WeightsAndState(folder);
    EXPECT_EQ(first, WeightsAndState(folder)) << threads << " threads";
  }
}

TEST(TrainerTest, AnInterruptedRunEndsLikeAnUnbrokenOne) {
  const std::string whole = TestFolder("whole") + "/run", broken = TestFolder("broken") + "/run";
  ASSERT_TRUE(Train(JobOf(TestRecipe()), whole).ok());
  int pieces = 0;
  for (bool done = false; !done; ++pieces) {
    TrainJob job = JobOf(TestRecipe());
    job.resume = pieces > 0;
    int asked = 0;
    job.stop_requested = [&asked] { return asked++ == 5; };
    const auto summary = Train(std::move(job), broken);
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    done = summary->stopped == StopReason::kSteps;
  }
  EXPECT_EQ(pieces, 3);
  EXPECT_EQ(WeightsAndState(whole), WeightsAndState(broken));
  const auto rows = ReadJsonl(broken + "/log.jsonl");
  int64_t next = 1;
  for (const Json& row : *rows) {
    if (row["kind"] != "step") continue;
    EXPECT_EQ(row["step"], next++);
  }
  EXPECT_EQ(next, 13);
}

// Time that jumps: each reading is a little later, and now and then much later.
TimeSource JumpyTime(uint64_t seed, double* now) {
  auto random = std::make_shared<Philox>(seed, 5);
  return {[random, now] {
            *now +=
                0.002 +
                (random->NextBelow(40) == 0 ? 0.1 * static_cast<double>(random->NextUniform()) : 0);
            return *now;
          },
          [] { return std::string("2026-01-01T00:00:00.000Z"); }};
}

TEST(TrainerTest, BudgetIsNeverExceededInFiftyRunsWithSlowSteps) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Recipe recipe = TestRecipe("[clock]\nreserve = \"0.5s\"\n");
    recipe.schedule.by = ScheduleBasis::kTime;
    recipe.train.steps = 0;
    recipe.train.budget = 3;
    double now = 0;
    TrainJob job = JobOf(recipe);
    job.time = JumpyTime(seed, &now);
    job.start = 0;
    const std::string folder = TestFolder("budget") + "/run";
    const auto summary = Train(std::move(job), folder);
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    ASSERT_LE(summary->charged, 3.0) << "seed " << seed;
    ASSERT_GT(summary->steps, 3) << "seed " << seed;
    double sum = 0;
    const auto charges = ReadLedger(folder + "/ledger.jsonl");
    ASSERT_TRUE(charges.ok());
    for (const Charge& charge : *charges) sum += charge.seconds;
    ASSERT_NEAR(sum, charges->back().total, 1e-6);
    ASSERT_TRUE(FileExists(folder + "/checkpoint/model.safetensors"));
  }
}

// A second a step of 64 tokens, more for an average; everything else has a price too.
class TestPriceList : public PriceList {
 public:
  Result<WorkPrice> PriceOf(const Work& work) override {
    switch (work.reason) {
      case ChargeReason::kStep:
        return WorkPrice{static_cast<double>(work.tokens) / 64 + (work.updates_average ? 0.25 : 0),
                         fmt::format("{} tokens", work.tokens), 5};
      case ChargeReason::kEval:
        return WorkPrice{0.5, "evaluation", 2};
      default:
        return WorkPrice{work.bytes > 0 ? 0.125 : 3.0, "", 0};
    }
  }
};

TrainJob PricedJob() {
  Recipe recipe = TestRecipe(
      "[clock]\nkind = \"trn2\"\nreserve = \"1s\"\nrules = \"frontier-2026-phase1\"\n"
      "[optimizer]\nema_decay = 0.9\nema_every = 4\n");
  recipe.schedule.by = ScheduleBasis::kTime;
  recipe.schedule.batch_phases = {{0.5, 32}};
  recipe.train.steps = 0;
  recipe.train.budget = 40;
  recipe.train.save_every = 7;
  recipe.train.eval_every = 9;
  TrainJob job = JobOf(recipe);
  job.prices = std::make_shared<TestPriceList>();
  job.evaluate = [](nn::TensorStore&) { return EvalRow{}; };
  return job;
}

std::map<std::string, int> CountRows(const std::string& path, const char* key) {
  std::map<std::string, int> count;
  const std::vector<Json> rows = ReadJsonl(path).value();
  for (const Json& row : rows) ++count[row[key].get<std::string>()];
  return count;
}

TEST(TrainerTest, APricedRunIsChargedForAllItDoesAndStopsWhereItsBudgetEnds) {
  const std::string folder = TestFolder("priced") + "/run";
  const auto summary = Train(PricedJob(), folder);
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->stopped, StopReason::kBudget);
  auto charges = CountRows(folder + "/ledger.jsonl", "reason");
  auto events = CountRows(folder + "/log.jsonl", "kind");
  EXPECT_EQ(charges["startup"], 1);
  EXPECT_EQ(charges["compile"], 3);  // two sizes of step, the evaluation
  EXPECT_EQ(charges["step"], summary->steps);
  EXPECT_EQ(charges["step"], events["step"]);
  EXPECT_GE(charges["eval"], 3);
  EXPECT_EQ(charges["eval"], events["eval"]);
  EXPECT_GE(charges["save"], 4);
  EXPECT_EQ(charges["save"], events["save"]);
  const auto rows = ReadLedger(folder + "/ledger.jsonl").value();
  EXPECT_EQ(rows.back().total, summary->charged);
  double first_steps = 0;  // they and what came before them are start-up and free
  for (int steps = 0; const Charge& row : rows) {
    first_steps += row.seconds;
    if (row.reason == ChargeReason::kStep && ++steps == 5) break;
  }
  EXPECT_NEAR(summary->counted, summary->charged - first_steps, 1e-9);
  EXPECT_LE(summary->counted, 40);
  EXPECT_GT(summary->counted, 40 - 1 - 1.25 - 0.125);
}

TEST(TrainerTest, AnInterruptedPricedRunHasTheLedgerOfAnUnbrokenOne) {
  const std::string whole = TestFolder("priced_whole") + "/run",
                    broken = TestFolder("priced_broken") + "/run";
  ASSERT_TRUE(Train(PricedJob(), whole).ok());
  // A stop saves; a kill does not, and leaves a ledger that is ahead of the checkpoint.
  for (int piece = 0;; ++piece) {
    TrainJob job = PricedJob();
    job.resume = piece > 0;
    int asked = 0;
    job.evaluate = [&, piece](nn::TensorStore&) -> Result<EvalRow> {
      if (piece == 0 && ++asked == 2) return Error(Code::kNumeric, "killed");
      return EvalRow{};
    };
    const auto summary = Train(std::move(job), broken);
    if (piece > 0) {
      ASSERT_TRUE(summary.ok()) << summary.status().message();
      break;
    }
    ASSERT_FALSE(summary.ok());
  }
  EXPECT_TRUE(WeightsAndState(whole) == WeightsAndState(broken));
  const auto expected = ReadLedger(whole + "/ledger.jsonl").value();
  const auto found = ReadLedger(broken + "/ledger.jsonl").value();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].total, expected[i].total) << i;
    EXPECT_EQ(found[i].reason, expected[i].reason) << i;
  }
}

TEST(TrainerTest, APricedClockWithoutPricesAndABudgetBeyondTheRulesAreRefused) {
  TrainJob job = PricedJob();
  job.prices = nullptr;
  EXPECT_THAT(Train(std::move(job), TestFolder("unpriced") + "/run").status().message(),
              HasSubstr("windtunnel rehearse"));
  job = PricedJob();
  job.recipe.train.budget = 2000;
  EXPECT_THAT(Train(std::move(job), TestFolder("long") + "/run").status().message(),
              HasSubstr("train.budget is 2000 s; the rules frontier-2026-phase1 allow 1800 s"));
}

TEST(TrainerTest, ALossThatIsNoNumberStopsTheRunAndKeepsTheLastSave) {
  Recipe recipe = TestRecipe();
  recipe.model.softcap = 0;
  recipe.model.norm_eps = 0;
  recipe.model.embedding_std = 0;  // 0 / 0 in the first norm
  const std::string folder = TestFolder("nan") + "/run";
  const auto summary = Train(JobOf(recipe), folder);
  EXPECT_EQ(summary.status().code(), Code::kNumeric);
  EXPECT_THAT(summary.status().message(), HasSubstr("step 1: the loss is"));
}

TEST(TrainerTest, AnotherVocabularyIsRefused) {
  Recipe recipe = TestRecipe();
  recipe.model.vocab_size = 320;
  const auto summary = Train(JobOf(recipe), TestFolder("vocab") + "/run");
  EXPECT_THAT(summary.status().message(), HasSubstr("the data's tokenizer has 300 tokens"));
}

TEST(TrainerTest, ARecipeThatDoesNotFitMemoryIsRefusedBeforeItRuns) {
  Recipe recipe = TestRecipe();
  recipe.model.width = 65536;
  recipe.model.depth = 400;
  const auto summary = Train(JobOf(recipe), TestFolder("memory") + "/run");
  EXPECT_EQ(summary.status().code(), Code::kCapacity);
  EXPECT_THAT(summary.status().message(), HasSubstr("train.rows_per_core"));
}

TEST(TrainerTest, AnAverageIsBlendedIntoTheSavedWeights) {
  const std::string plain = TestFolder("plain") + "/run", blended = TestFolder("blended") + "/run";
  ASSERT_TRUE(Train(JobOf(TestRecipe()), plain).ok());
  ASSERT_TRUE(
      Train(JobOf(TestRecipe("[optimizer]\nema_decay = 0.9\nema_every = 2\nema_blend = 0.6\n")),
            blended)
          .ok());
  EXPECT_NE(ReadFile(plain + "/checkpoint/model.safetensors").value(),
            ReadFile(blended + "/checkpoint/model.safetensors").value());
}

TEST(TrainerTest, ResumingWithAnotherRecipeIsRefused) {
  const std::string folder = TestFolder("other") + "/run";
  ASSERT_TRUE(Train(JobOf(TestRecipe()), folder).ok());
  TrainJob job = JobOf(TestRecipe("[optimizer]\nmuon_lr = 0.03\n"));
  job.resume = true;
  EXPECT_THAT(Train(std::move(job), folder).status().message(), HasSubstr("another recipe"));
}

}  // namespace
}  // namespace wt::train
