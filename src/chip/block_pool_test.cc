#include "chip/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace wt::chip::block_pool_test {
namespace {

TEST(BlockPool, GivesReleasedBlocksAgainAndKeepsNoMoreThanItMay) {
  BlockPool pool(1024);
  std::byte* first = pool.Take(512);
  std::byte* second = pool.Take(512);
  std::byte* third = pool.Take(128);
  ASSERT_NE(first, second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  std::memset(first, 1, 512);
  pool.Give(first, 512);
  pool.Give(second, 512);
  EXPECT_EQ(pool.kept(), 1024u);
  pool.Give(third, 128);  // freed
  EXPECT_EQ(pool.kept(), 1024u);
  EXPECT_EQ(pool.Take(512), second);
  EXPECT_EQ(pool.Take(512), first);
  EXPECT_EQ(pool.kept(), 0u);
  pool.Give(first, 512);
  pool.Give(second, 512);
}

TEST(BlockPool, SizesAreNotMixed) {
  BlockPool pool(1 << 20);
  pool.Give(pool.Take(64), 64);
  std::byte* other = pool.Take(128);
  EXPECT_EQ(pool.kept(), 64u);
  pool.Give(other, 128);
}

}  // namespace
}  // namespace wt::chip::block_pool_test
