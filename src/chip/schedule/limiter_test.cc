#include "chip/schedule/limiter.h"

#include <gtest/gtest.h>

namespace wt::chip {
namespace {

Timing Windows() {
  Timing timing;
  timing.limiter_window_ns = 1000;
  timing.limiter_threshold = 0.375;
  timing.limiter_slowdown = 2;
  return timing;
}

TEST(Limiter, AFullArrayIsFreeAfterItsFirstWindow) {
  Limiter limiter(Windows());
  EXPECT_DOUBLE_EQ(limiter.Run(0, 500, 1), 1000);  // half rate: 0.5 of the window
  EXPECT_DOUBLE_EQ(limiter.Run(1000, 500, 1), 1500);
  EXPECT_DOUBLE_EQ(limiter.limited_ns(), 1000);
}

TEST(Limiter, AProductAcrossTheBoundaryChangesPace) {
  Limiter limiter(Windows());
  EXPECT_DOUBLE_EQ(limiter.Run(0, 800, 1), 1300);
}

TEST(Limiter, HalfOfTheRowsNeverGetFree) {
  Limiter limiter(Windows());
  double now = 0;
  for (int i = 0; i < 10; ++i) now = limiter.Run(now, 500, 0.5);
  EXPECT_DOUBLE_EQ(now, 10000);
}

TEST(Limiter, HalfOfTheRowsStayFreeOnceTheyAre) {
  Limiter limiter(Windows());
  double now = limiter.Run(0, 500, 1);
  now = limiter.Run(now, 2000, 0.5);  // 0.5 of each window at full rate
  EXPECT_DOUBLE_EQ(now, 3000);
}

TEST(Limiter, AnIdleWindowLimitsAgain) {
  Limiter limiter(Windows());
  limiter.Run(0, 1500, 1);
  EXPECT_DOUBLE_EQ(limiter.Run(5000, 100, 1), 5200);
  EXPECT_DOUBLE_EQ(limiter.Run(9900, 100, 1), 10100);  // and the window after it
}

TEST(Limiter, AKernelMayBeginWithinAWindow) {
  Timing timing = Windows();
  timing.limiter_phase = 0.8;
  Limiter limiter(timing);
  EXPECT_DOUBLE_EQ(limiter.Run(0, 1000, 1), 1400);  // 0.4 of the window, begun 200 ns before
}

TEST(Limiter, NoWindowNoLimit) {
  Limiter limiter(Timing{});
  EXPECT_DOUBLE_EQ(limiter.Run(5, 100, 0.1), 105);
}

}  // namespace
}  // namespace wt::chip
