#include "chip/schedule/placement.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace wt::chip {
namespace {

TEST(Space, ASiteGrowsToItsCopiesAndThenTakesTheOldest) {
  RegionPool pool;
  Space space({1000, 1, 0, 2}, &pool);
  const BufferId a = space.Take(0, 100);
  space.Release(a);
  const BufferId b = space.Take(0, 100);
  EXPECT_NE(a, b);
  space.Release(b);
  EXPECT_EQ(space.Take(0, 100), a);
  EXPECT_EQ(space.live_peak(), 100);
  EXPECT_EQ(space.placed_peak(), 200);
}

TEST(Space, CopiesCountWhatIsLiveAtOnce) {
  RegionPool pool;
  Space space({1000, 1, 0, 1}, &pool);
  const BufferId a = space.Take(0, 100), b = space.Take(0, 100);
  space.Release(a);
  space.Release(b);
  EXPECT_EQ(space.Take(0, 100), a);
}

TEST(Space, FullMemoryTakesWhatHasBeenDeadLongest) {
  RegionPool pool;
  Space space({300, 1, 0, 4}, &pool);
  const BufferId a = space.Take(0, 100), b = space.Take(1, 100), c = space.Take(2, 100);
  space.Release(b);
  space.Release(a);
  const int64_t where = space.begin(b);
  EXPECT_EQ(space.begin(space.Take(3, 100)), where);
  EXPECT_FALSE(space.oversubscribed());
  (void)c;
}

TEST(Space, ASiteKeepsToItsOwnUnlessItRoams) {
  for (const bool roams : {false, true}) {
    RegionPool pool;
    Space space({200, 1, 0, 4, roams}, &pool);
    const BufferId a = space.Take(0, 100), b = space.Take(1, 100);
    const int64_t where_a = space.begin(a), where_b = space.begin(b);
    space.Release(a);
    space.Release(b);
    EXPECT_EQ(space.begin(space.Take(1, 100)), roams ? where_a : where_b);
  }
}

TEST(Space, APieceKeepsItsHazards) {
  RegionPool pool;
  Space space({300, 1, 0, 1}, &pool);
  const BufferId a = space.Take(0, 300);
  pool.Write(space.regions(a), {0, 1, 0, 300}, 7, 0, [](const Conflict&) {});
  space.Release(a);
  const BufferId b = space.Take(1, 100), c = space.Take(2, 100);
  for (const BufferId buffer : {b, c}) {
    Number found = kNobody;
    pool.Write(space.regions(buffer), {0, 1, 0, 100}, 8, 0,
               [&](const Conflict& conflict) { found = conflict.number; });
    EXPECT_EQ(found, 7u);
  }
  EXPECT_NE(space.begin(b), space.begin(c));
}

TEST(Space, TilesKeepToTheirBanks) {
  RegionPool pool;
  Space space({8192, 512, 2048, 1}, &pool);
  EXPECT_EQ(space.begin(space.Take(0, 1536)), 0);
  EXPECT_EQ(space.begin(space.Take(1, 600)), 2048);  // 1024 with its granule: not across
  EXPECT_EQ(space.begin(space.Take(2, 512)), 1536);
  EXPECT_EQ(space.begin(space.Take(3, 4096)), 4096);  // whole banks
}

TEST(Space, WhatDoesNotFitIsReported) {
  RegionPool pool;
  Space space({100, 1, 0, 1}, &pool);
  space.Take(0, 60);
  EXPECT_FALSE(space.oversubscribed());
  space.Take(1, 60);
  EXPECT_TRUE(space.oversubscribed());
}

// Live buffers never overlap, whatever comes and goes.
TEST(Space, LiveBuffersNeverOverlap) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Philox random(seed, 0);
    RegionPool pool;
    Space space({4096, 1 << random.NextBelow(6), 0, 1.0 + double(random.NextBelow(3))}, &pool);
    struct Tile {
      BufferId buffer;
      int64_t bytes;
    };
    std::vector<Tile> live;
    for (int step = 0; step < 400; ++step) {
      if (live.size() > 6 || (!live.empty() && random.NextBelow(2) == 0)) {
        const size_t at = random.NextBelow(live.size());
        space.Release(live[at].buffer);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto site = static_cast<SiteId>(random.NextBelow(8));
        const auto bytes = static_cast<int64_t>(50 + 60 * site);
        live.push_back({space.Take(site, bytes), bytes});
      }
      if (space.oversubscribed()) break;
      for (const Tile& a : live) {
        for (const Tile& b : live) {
          if (a.buffer == b.buffer) continue;
          ASSERT_TRUE(space.begin(a.buffer) + a.bytes <= space.begin(b.buffer) ||
                      space.begin(b.buffer) + b.bytes <= space.begin(a.buffer));
        }
      }
    }
  }
}

}  // namespace
}  // namespace wt::chip
