#include "text/byte_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "text/loader_test_util.h"

namespace wt::text {
namespace {

using testing::HasSubstr;

TEST(BpbTotals, CountsNeitherSpecialNorIgnoredTargets) {
  const std::vector<int32_t> token_bytes{1, 4, 0};
  const std::vector<float> nll{1.0f, 2.0f, 100.0f, 100.0f, 0.5f};
  const std::vector<int32_t> targets{0, 1, 2, -1, 1};
  BpbTotals totals;
  totals.Add(nll, targets, token_bytes);
  EXPECT_EQ(totals.nats, 3.5);
  EXPECT_EQ(totals.bytes, 9);
  EXPECT_EQ(totals.tokens, 3);
  EXPECT_DOUBLE_EQ(totals.bits_per_byte(), 3.5 / (9 * std::log(2.0)));
}

TEST(BpbTotals, UniformGuessOverBytesScoresEightBits) {
  const std::vector<int32_t> token_bytes(256, 1);
  const std::vector<float> nll(1000, std::log(256.0f));
  BpbTotals half, all;
  half.Add(nll, std::vector<int32_t>(1000, 65), token_bytes);
  all.Add(half);
  all.Add(half);
  EXPECT_EQ(all.tokens, 2000);
  EXPECT_NEAR(all.bits_per_byte(), 8.0, 1e-6);
}

TEST(BpbTotals, NoBytesIsInfiniteAndNanStaysNan) {
  EXPECT_EQ(BpbTotals().bits_per_byte(), INFINITY);
  BpbTotals totals;
  totals.Add(std::vector<float>{NAN}, std::vector<int32_t>{0}, std::vector<int32_t>{1});
  EXPECT_TRUE(std::isnan(totals.bits_per_byte()));
}

TEST(CheckBytes, ComparesIdsWithTheRecordedText) {
  const TokenSet set = SetOf({{{{1, 2, 3}, {}}, {{4}}}});  // 10 bytes of text
  std::vector<int32_t> token_bytes(kTestVocab);
  for (int32_t id = 0; id < kTestVocab; ++id) token_bytes[static_cast<size_t>(id)] = id;
  EXPECT_TRUE(CheckBytes(*set.sources()[0], token_bytes).ok());
  token_bytes[2] = 3;  // a byte that decodes to U+FFFD, counted as three
  EXPECT_THAT(CheckBytes(*set.sources()[0], token_bytes).message(),
              HasSubstr("stand for 11 bytes, its text had 10"));
  EXPECT_FALSE(CheckBytes(*set.sources()[0], std::vector<int32_t>(3)).ok());
}

}  // namespace
}  // namespace wt::text
