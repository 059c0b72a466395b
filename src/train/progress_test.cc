#include "train/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt::train {
namespace {

const ProgressView kView = {.phase = "train",
                            .step = 120,
                            .loss = 4.12345,
                            .val_bpb = 1.8,
                            .tokens_per_second = 31234,
                            .charged = 15,
                            .budget = 60};

TEST(FormatProgress, ShowsEverythingWhereThereIsRoom) {
  EXPECT_EQ(FormatProgress(kView, 100, false),
            "train  step 120  loss 4.1235  val_bpb 1.8000  31.2K tok/s  [#####...............]  "
            "45.0s left");
  EXPECT_EQ(FormatProgress({.budget = 60}, 60, false),
            "train  step 0  [....................]  1m 00s left");
}

TEST(FormatProgress, NeverWiderThanTheTerminal) {
  for (int width = 0; width < 120; ++width) {
    EXPECT_LE(static_cast<int>(FormatProgress(kView, width, false).size()), width);
  }
  EXPECT_EQ(FormatProgress(kView, 24, false), "step 120  45.0s left");
  EXPECT_EQ(FormatProgress(kView, 10, false), "45.0s left");
}

TEST(FormatProgress, ColorTakesNoColumns) {
  std::string line = FormatProgress(kView, 100, true);
  EXPECT_THAT(line, testing::HasSubstr("\x1b[32m[#####"));
  for (size_t at; (at = line.find('\x1b')) != std::string::npos;) {
    line.erase(at, line.find('m', at) - at + 1);
  }
  EXPECT_EQ(line, FormatProgress(kView, 100, false));
}

TEST(FormatProgress, OvershootIsClamped) {
  ProgressView late = kView;
  late.charged = 70;
  EXPECT_THAT(FormatProgress(late, 100, false), testing::HasSubstr("[####################]  0.0s"));
  late.budget = 0;
  EXPECT_THAT(FormatProgress(late, 100, false), testing::HasSubstr("[....................]"));
}

TEST(FormatPlainProgress, IsOneReadableLine) {
  EXPECT_EQ(FormatPlainProgress(kView),
            "15.0s of 1m 00s: train step 120, loss 4.1235, val_bpb 1.8000, 31.2K tokens/s");
}

struct Screen {
  double now = 0;
  std::string text;
  ProgressOptions options(bool live) {
    return {live, false, [] { return 80; }, [this] { return now; },
            [this](std::string_view written) { text += written; }};
  }
};

TEST(Progress, PlainLinesComeEveryTenSeconds) {
  Screen screen;
  Progress progress(screen.options(false));
  for (int i = 0; i < 250; ++i, screen.now += 0.1) progress.Update(kView);
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 3);
  EXPECT_EQ(screen.text.find('\x1b'), std::string::npos);
  progress.Update(kView, true);
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 4);
}

TEST(Progress, LiveLineMakesWayForMessagesAndTheEnd) {
  Screen screen;
  {
    Progress progress(screen.options(true));
    progress.Update(kView);
    progress.Update(kView);  // too soon
    EXPECT_EQ(screen.text, "\r\x1b[K" + FormatProgress(kView, 79, false));
    screen.text.clear();
    progress.Message("saved");
    EXPECT_EQ(screen.text, "\r\x1b[Ksaved\n");
    screen.now = 1;
    progress.Update(kView);
  }
  EXPECT_TRUE(screen.text.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace wt::train
