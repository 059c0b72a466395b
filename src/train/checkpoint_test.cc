#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "train/test_util.h"

namespace wt::train {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const TensorInfo kWeight = {"blocks.0.q", DType::kF32, {2, 3}};
const TensorInfo kMoment = {"blocks.0.q.momentum", DType::kBF16, {2, 3}};

// A tiny model whose numbers all tell its step.
struct Sample {
  std::vector<float> weight;
  std::vector<BF16> moment;
  CheckpointContents contents;

  explicit Sample(int64_t step) : weight(6, static_cast<float>(step)), moment(6, BF16(0.5f)) {
    contents.state = {.step = step,
                      .tokens = step * 8192,
                      .charged = 0.1 * static_cast<double>(step),
                      .loader = "document 12 \"byte\" 34",
                      .generators = {{"shuffle", ~uint64_t{0}}, {"init", 7}},
                      .recipe_hash = "r",
                      .tokenizer_hash = "t",
                      .program_hash = "p",
                      .program_version = "0.1"};
    contents.model = {{kWeight, weight.data()}};
    contents.optimizer = {{kMoment, moment.data()}};
  }
};

Status Save(const std::string& folder, int64_t step, CheckpointOptions options = {}) {
  const Sample sample(step);
  return SaveCheckpoint(folder, sample.contents, options);
}

// The step of the checkpoint there, checked against its weights; -1 when none loads.
int64_t LoadedStep(const std::string& folder) {
  const auto checkpoint = Checkpoint::Load(folder);
  std::vector<float> weight(6);
  if (!checkpoint.ok()) return -1;
  EXPECT_TRUE(Checkpoint::Copy(checkpoint->model(), kWeight, weight.data()).ok());
  EXPECT_EQ(weight, std::vector<float>(6, static_cast<float>(checkpoint->state().step)));
  return checkpoint->state().step;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Checkpoint, StateComesBackWhole) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 120).ok());
  const auto checkpoint = Checkpoint::Load(run.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const CheckpointState& state = checkpoint->state();
  EXPECT_EQ(state.step, 120);
  EXPECT_EQ(state.charged, 0.1 * 120);
  EXPECT_EQ(state.loader, "document 12 \"byte\" 34");
  EXPECT_EQ(state.generators.at("shuffle"), ~uint64_t{0});
  EXPECT_EQ(state.program_hash, "p");
  EXPECT_NE(checkpoint->optimizer().Find("blocks.0.q.momentum"), nullptr);
  EXPECT_TRUE(FileExists(run / "checkpoint/model.safetensors"));
}

TEST(Checkpoint, KeepsAsManyAsAsked) {
  TempFolder run;
  for (int64_t step : {10, 20, 30}) ASSERT_TRUE(Save(run.path(), step).ok());
  EXPECT_EQ(NamesIn(run.path()), (std::vector<std::string>{"checkpoint", "checkpoint-00000030"}));
  ASSERT_TRUE(Save(run.path(), 40, {.keep = 2, .before = {}}).ok());
  EXPECT_EQ(NamesIn(run.path()).size(), 3u);
  EXPECT_EQ(LoadedStep(run / "checkpoint-00000030"), 30);
  EXPECT_EQ(LoadedStep(run.path()), 40);
}

TEST(Checkpoint, TheSameStepMayBeSavedAgain) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 10).ok());
  ASSERT_TRUE(Save(run.path(), 10).ok());
  EXPECT_EQ(LoadedStep(run.path()), 10);
  EXPECT_EQ(NamesIn(run.path()), (std::vector<std::string>{"checkpoint", "checkpoint-00000010.2"}));
}

TEST(Checkpoint, ACopyWithoutLinksLoadsAndSaves) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 10).ok());
  fs::remove(run / "checkpoint");
  fs::rename(run / "checkpoint-00000010", run / "checkpoint");
  EXPECT_EQ(LoadedStep(run.path()), 10);
  ASSERT_TRUE(Save(run.path(), 20).ok());
  EXPECT_EQ(LoadedStep(run.path()), 20);
}

// Counts the places where a save can be interrupted, and names them.
std::vector<std::string> PointsOfASave() {
  TempFolder run;
  std::vector<std::string> points;
  CheckpointOptions options;
  options.before = [&](std::string_view what) {
    points.emplace_back(what);
    return Status();
  };
  WT_CHECK(Save(run.path(), 1, options).ok(), "a plain save");
  return points;
}

CheckpointOptions StopAt(size_t point, const std::function<Status()>& stop) {
  CheckpointOptions options;
  options.before = [at = size_t{0}, point, stop](std::string_view) mutable {
    return at++ == point ? stop() : Status();
  };
  return options;
}

// A child process saves and dies, as by kill -9, at one point; what it leaves must load and must
// not be in the way of the next save.
void SaveAndDie(const std::string& folder, int64_t step, size_t point) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Status ignored = Save(folder, step, StopAt(point, []() -> Status { _exit(137); }));
    _exit(ignored.ok() ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 137);
}

TEST(Checkpoint, AKillAtAnyPointLeavesAWholeOne) {
  const auto points = PointsOfASave();
  ASSERT_GE(points.size(), 10u);
  for (size_t point = 0; point < points.size(); ++point) {
    TempFolder run;
    ASSERT_TRUE(Save(run.path(), 1).ok());
    SaveAndDie(run.path(), 2, point);
    const int64_t step = LoadedStep(run.path());
    EXPECT_TRUE(step == 1 || step == 2) << points[point];
    ASSERT_TRUE(Save(run.path(), 3).ok()) << points[point];
    EXPECT_EQ(LoadedStep(run.path()), 3) << points[point];
    EXPECT_EQ(NamesIn(run.path()).size(), 2u) << points[point] << ": something is left behind";
  }
}

TEST(Checkpoint, AKillDuringTheFirstSaveLeavesNoneOrAWholeOne) {
  const auto points = PointsOfASave();
  for (size_t point = 0; point < points.size(); ++point) {
    TempFolder run;
    SaveAndDie(run.path(), 1, point);
    EXPECT_EQ(LoadedStep(run.path()), HasCheckpoint(run.path()) ? 1 : -1) << points[point];
  }
}

TEST(Checkpoint, AFullDiskLeavesTheOldOne) {
  const auto points = PointsOfASave();
  for (size_t point = 0; point + 1 < points.size(); ++point) {
    TempFolder run;
    ASSERT_TRUE(Save(run.path(), 1).ok());
    const Status status =
        Save(run.path(), 2, StopAt(point, [] { return Error(Code::kCapacity, "no space left"); }));
    EXPECT_EQ(status.code(), Code::kCapacity);
    EXPECT_THAT(status.message(), HasSubstr("what was saved before is untouched"));
    EXPECT_EQ(LoadedStep(run.path()), 1) << points[point];
  }
}

TEST(Checkpoint, AWriteThatFailsLeavesTheOldOne) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 1).ok());
  {
    const FileSizeLimit limit(100);
    const Status status = Save(run.path(), 2);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("model.safetensors"));
  }
  EXPECT_EQ(LoadedStep(run.path()), 1);
  EXPECT_EQ(NamesIn(run.path()).size(), 2u);
}

TEST(Checkpoint, DamageIsFound) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 1).ok());
  const std::string path = run / "checkpoint/model.safetensors";
  const std::string good = *ReadFile(path);
  std::string bad = good;
  bad.back() ^= 1;
  ASSERT_TRUE(WriteFileAtomic(path, bad).ok());
  EXPECT_THAT(Checkpoint::Load(run.path()).status().message(),
              AllOf(HasSubstr("model.safetensors: CRC-32C is"), HasSubstr("state.json expects")));
  ASSERT_TRUE(WriteFileAtomic(path, good.substr(0, good.size() - 1)).ok());
  EXPECT_EQ(Checkpoint::Load(run.path()).status().code(), Code::kCorrupt);
  ASSERT_TRUE(WriteFileAtomic(run / "checkpoint/state.json", "{\"format\": 9}").ok());
  EXPECT_EQ(Checkpoint::Load(run.path()).status().code(), Code::kUnsupported);
  ASSERT_TRUE(WriteFileAtomic(run / "checkpoint/state.json", "{\"format\": 1").ok());
  EXPECT_THAT(Checkpoint::Load(run.path()).status().message(), HasSubstr("state.json: "));
}

TEST(Checkpoint, AbsentOnesAreExplained) {
  TempFolder run;
  const Status status = Checkpoint::Load(run.path()).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("expected a run folder with checkpoint/"));
}

TEST(Checkpoint, MismatchesNameTensorGivenExpectedAndWayOut) {
  TempFolder run;
  ASSERT_TRUE(Save(run.path(), 1).ok());
  const auto checkpoint = Checkpoint::Load(run.path());
  const SafetensorsFile& model = checkpoint->model();
  EXPECT_TRUE(Checkpoint::CheckTensors(model, {kWeight}).ok());
  const Status shape = Checkpoint::CheckTensors(model, {{"blocks.0.q", DType::kF32, {4, 3}}});
  EXPECT_EQ(shape.code(), Code::kMismatch);
  EXPECT_THAT(shape.message(),
              AllOf(HasSubstr("tensor blocks.0.q is [2, 3] of f32; expected [4, 3] of f32"),
                    HasSubstr("Use the recipe and the tokenizer")));
  EXPECT_THAT(Checkpoint::CheckTensors(model, {kWeight, kMoment}).message(),
              HasSubstr("no tensor blocks.0.q.momentum"));
  EXPECT_THAT(Checkpoint::CheckTensors(model, {}).message(), HasSubstr("has no place"));
}

}  // namespace
}  // namespace wt::train
