#include "train/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

LogPoint At(int64_t step) { return {step, 0.5 * static_cast<double>(step), step * 8192}; }

// A run from `first` on, saved every 10 steps, killed after step `last`.
void Train(const std::string& path, int64_t first, int64_t last) {
  auto log = RunLog::Open(path, first - 1);
  ASSERT_TRUE(log.ok()) << log.status().message();
  for (int64_t step = first; step <= last; ++step) {
    ASSERT_TRUE(log->Add(StepRow{.at = At(step), .loss = 9.0 - 0.1 * step}).ok());
    if (step % 10 != 0) continue;
    ASSERT_TRUE(log->Add(SaveRow{.at = At(step), .folder = "c"}).ok());
  }
}

TEST(RunLog, RowsHaveTheDocumentedFields) {
  TempFolder run;
  auto log = RunLog::Open(run / "log.jsonl", 0);
  ASSERT_TRUE(log->Add(EventRow{.at = At(0), .name = "start", .message = "nano"}).ok());
  ASSERT_TRUE(
      log->Add(StepRow{.at = At(1), .loss = NAN, .lr_scale = 0.5, .grad_norm = INFINITY}).ok());
  ASSERT_TRUE(log->Add(EvalRow{.at = At(1),
                               .val_bpb = 1.5,
                               .nats = 8,
                               .bytes = 4,
                               .scored_tokens = 2,
                               .context = 512,
                               .layout = "stream"})
                  .ok());
  EXPECT_EQ(*ReadFile(run / "log.jsonl"),
            R"({"kind":"event","step":0,"charged":0.0,"tokens":0,"name":"start","message":"nano"})"
            "\n"
            R"({"kind":"step","step":1,"charged":0.5,"tokens":8192,"loss":null,"lr_scale":0.5,)"
            R"("muon_momentum":0.0,"grad_norm":null,"tokens_per_second":0.0})"
            "\n"
            R"({"kind":"eval","step":1,"charged":0.5,"tokens":8192,"val_bpb":1.5,"nats":8.0,)"
            R"("bytes":4,"scored_tokens":2,"context":512,"ranks":1,"layout":"stream",)"
            R"("seconds":0.0})"
            "\n");
}

TEST(RunLog, AfterAResumeEveryStepIsThereOnce) {
  TempFolder run;
  Train(run / "broken", 1, 27);
  Train(run / "broken", 21, 40);  // from the checkpoint of step 20
  Train(run / "unbroken", 1, 40);
  EXPECT_EQ(*ReadFile(run / "broken"), *ReadFile(run / "unbroken"));
}

TEST(RunLog, ANewRunCutsWhatWasThere) {
  TempFolder run;
  Train(run / "log", 1, 5);
  ASSERT_TRUE(RunLog::Open(run / "log", 0).ok());
  EXPECT_EQ(*ReadFile(run / "log"), "");
}

TEST(RunLog, InvalidTextInAMessageDoesNotStopTheRun) {
  TempFolder run;
  auto log = RunLog::Open(run / "log", 0);
  EXPECT_TRUE(
      log->Add(EventRow{.at = At(1), .name = "note", .message = "\xff\xfe \"quoted\"\n"}).ok());
  EXPECT_EQ(ReadJsonl(run / "log")->size(), 1u);
}

}  // namespace
}  // namespace wt::train
