#include "text/prefetch.h"

#include <gtest/gtest.h>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

std::unique_ptr<Loader> Plain(Layout layout = Layout::kBestFit) {
  Philox random(1, 0);
  LoaderConfig config = TestConfig(layout);
  config.shuffle_pool = 5;
  return LoaderOf(SetOf(RandomPlainCorpus(&random, 2, 4, 30, 40, kTestBos)), config);
}

TEST(PrefetchLoader, GivesTheBatchesStatesAndCountsOfTheWrappedLoader) {
  for (const int64_t depth : {1, 2, 5}) {
    const auto plain = Plain();
    PrefetchLoader prefetch(Plain(), depth);
    EXPECT_EQ(prefetch.SaveState(), plain->SaveState());
    Batch a, b;
    for (int i = 0; i < 60; ++i) {
      plain->Next(&a);
      prefetch.Next(&b);
      ASSERT_TRUE(SameBatch(a, b)) << i;
      if (i % 7 == 0) {
        ASSERT_EQ(prefetch.SaveState(), plain->SaveState()) << i;
      }
      ASSERT_EQ(prefetch.tokens(), plain->tokens());
      ASSERT_EQ(prefetch.epoch(), plain->epoch());
    }
  }
}

TEST(PrefetchLoader, RestoresEitherWay) {
  const auto plain = Plain(Layout::kStream);
  PrefetchLoader prefetch(Plain(Layout::kStream), 3);
  Batch a, b;
  for (int i = 0; i < 10; ++i) prefetch.Next(&b);
  WT_ASSERT_OK(plain->RestoreState(prefetch.SaveState()));
  for (int i = 0; i < 10; ++i) plain->Next(&a);
  WT_ASSERT_OK(prefetch.RestoreState(plain->SaveState()));
  EXPECT_EQ(prefetch.tokens(), plain->tokens());
  for (int i = 0; i < 10; ++i) {
    plain->Next(&a);
    prefetch.Next(&b);
    ASSERT_TRUE(SameBatch(a, b)) << i;
  }
}

TEST(PrefetchLoader, GoesOnAfterARefusedState) {
  const auto plain = Plain();
  PrefetchLoader prefetch(Plain(), 2);
  Batch a, b;
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(prefetch.RestoreState("{}").ok());
    plain->Next(&a);
    prefetch.Next(&b);
    ASSERT_TRUE(SameBatch(a, b));
  }
}

TEST(PrefetchLoader, SkipsAndClones) {
  const auto plain = Plain();
  PrefetchLoader prefetch(Plain(), 2);
  Batch a, b;
  plain->Skip(9);
  prefetch.Next(&b);
  prefetch.Skip(8);
  EXPECT_EQ(prefetch.tokens(), plain->tokens());
  const auto clone = prefetch.Clone();
  plain->Next(&a);
  clone->Next(&b);
  EXPECT_TRUE(SameBatch(a, b));
  prefetch.Next(&b);
  EXPECT_TRUE(SameBatch(a, b));
}

TEST(PrefetchLoader, EndsCleanlyAtAnyMoment) {
  for (int taken = 0; taken < 20; ++taken) {
    PrefetchLoader prefetch(Plain(), 1 + taken % 4);
    Batch batch;
    for (int i = 0; i < taken; ++i) prefetch.Next(&batch);
  }
}

}  // namespace
}  // namespace wt::text
