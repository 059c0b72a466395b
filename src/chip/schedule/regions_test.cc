#include "chip/schedule/regions.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace wt::chip {
namespace {

// The twin: every access ever made, and who last wrote each byte.
class PlainRegions {
 public:
  static constexpr int kRows = 6, kBytes = 24;

  std::set<Number> Access(const Box& box, Number number, bool write) {
    std::set<Number> conflicts;
    for (int row = box.row_begin; row < box.row_end; ++row) {
      for (auto byte = box.byte_begin; byte < box.byte_end; ++byte) {
        Cell& cell = cells_[row][byte];
        if (cell.writer != kNobody) conflicts.insert(cell.writer);
        if (write) {
          conflicts.insert(cell.readers.begin(), cell.readers.end());
          cell = {number, {}};
        } else {
          cell.readers.insert(number);
        }
      }
    }
    return conflicts;
  }

 private:
  struct Cell {
    Number writer = kNobody;
    std::set<Number> readers;
  };
  Cell cells_[kRows][kBytes];
};

Box RandomBox(Philox& random) {
  Box box;
  box.row_begin = static_cast<int32_t>(random.NextBelow(PlainRegions::kRows));
  box.row_end =
      box.row_begin + 1 +
      static_cast<int32_t>(random.NextBelow(uint64_t(PlainRegions::kRows - box.row_begin)));
  box.byte_begin = static_cast<int64_t>(random.NextBelow(PlainRegions::kBytes));
  box.byte_end =
      box.byte_begin + 1 +
      static_cast<int64_t>(random.NextBelow(uint64_t(PlainRegions::kBytes - box.byte_begin)));
  return box;
}

TEST(Regions, FindWhatTheTwinFinds) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Philox random(seed, 0);
    RegionPool pool;
    RegionList list = kNoRegions;
    PlainRegions twin;
    for (Number number = 0; number < 200; ++number) {
      const Box box = RandomBox(random);
      const bool write = random.NextBelow(3) == 0;
      std::set<Number> found;
      const auto visit = [&](const Conflict& conflict) { found.insert(conflict.number); };
      write ? pool.Write(list, box, number, 0, visit) : pool.Read(list, box, number, 0, visit);
      ASSERT_EQ(found, twin.Access(box, number, write)) << seed << " " << number;
    }
  }
}

TEST(Regions, OneWholeWriteForgetsAllBefore) {
  RegionPool pool;
  RegionList list = kNoRegions;
  const auto ignore = [](const Conflict&) {};
  for (Number number = 0; number < 10; ++number) {
    pool.Write(list, {0, 1, number * 10, number * 10 + 10}, number, 0, ignore);
  }
  EXPECT_EQ(pool.Count(list), 10u);
  pool.Write(list, {0, 1, 0, 100}, 10, 0, ignore);
  EXPECT_EQ(pool.Count(list), 1u);
}

TEST(Regions, PruneDropsWhatIsOver) {
  RegionPool pool;
  RegionList list = kNoRegions;
  const auto ignore = [](const Conflict&) {};
  pool.Write(list, {0, 1, 0, 10}, 1, 0, ignore);
  pool.Write(list, {0, 1, 10, 20}, 5, 0, ignore);
  pool.Read(list, {0, 1, 0, 10}, 6, 0, ignore);
  EXPECT_EQ(pool.Prune(list, 6), 2u);  // the first box with its reader
  EXPECT_EQ(pool.Count(list), 1u);
  EXPECT_EQ(pool.Prune(list, 7), 0u);
  EXPECT_EQ(list, kNoRegions);
}

TEST(Regions, CopiesMoveWithTheBytes) {
  RegionPool pool;
  RegionList from = kNoRegions, to = kNoRegions;
  const auto ignore = [](const Conflict&) {};
  pool.Write(from, {0, 1, 0, 10}, 1, 0, ignore);
  pool.Write(from, {0, 1, 10, 20}, 2, 0, ignore);
  pool.CopyInto(to, from, 8, 12, 100);
  std::set<Number> found;
  pool.Read(to, {0, 1, 108, 110}, 3, 0, [&](const Conflict& c) { found.insert(c.number); });
  EXPECT_EQ(found, std::set<Number>{1});
}

}  // namespace
}  // namespace wt::chip
