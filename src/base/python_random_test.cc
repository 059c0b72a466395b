// Draws that CPython 3.11 prints for the same calls.
#include "base/python_random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace wt {
namespace {

std::vector<int> Shuffled(size_t n) {
  std::vector<int> items(n);
  std::iota(items.begin(), items.end(), 0);
  PythonRandom(1337).Shuffle(&items);
  items.resize(std::min<size_t>(n, 10));
  return items;
}

TEST(PythonRandomTest, ShufflesAsPythonDoes) {
  EXPECT_EQ(Shuffled(5), (std::vector<int>{1, 0, 3, 2, 4}));
  EXPECT_EQ(Shuffled(32), (std::vector<int>{4, 17, 16, 0, 2, 21, 7, 15, 19, 27}));
  EXPECT_EQ(Shuffled(1000), (std::vector<int>{239, 310, 101, 624, 1, 628, 612, 482, 215, 981}));
}

TEST(PythonRandomTest, SamplesAsPythonDoes) {
  using Taken = std::vector<int64_t>;
  EXPECT_EQ(PythonRandom(1234u).Sample(31, 10), (Taken{30, 24, 14, 3, 0, 2, 18, 1, 21, 25}));
  EXPECT_EQ(PythonRandom(1241u).Sample(31, 10), (Taken{19, 30, 15, 24, 6, 9, 8, 26, 22, 28}));
  EXPECT_EQ(PythonRandom(1234u).Sample(85, 10), (Taken{56, 14, 0, 11, 74, 4, 10, 12, 45, 30}));
  EXPECT_EQ(PythonRandom(1234u).Sample(86, 10), (Taken{56, 14, 0, 11, 74, 4, 85, 10, 12, 45}));
  EXPECT_EQ(PythonRandom(1454u).Sample(229, 3), (Taken{184, 76, 164}));
  EXPECT_EQ(PythonRandom(1241u).Sample(1220, 10),
            (Taken{1015, 433, 577, 518, 399, 1005, 1130, 1078, 580, 987}));
  EXPECT_EQ(PythonRandom(1099511627781ull).Sample(21, 3), (Taken{16, 20, 8}));
  EXPECT_EQ(PythonRandom(9u).Sample(22, 5), (Taken{14, 19, 11, 8, 4}));
}

}  // namespace
}  // namespace wt
