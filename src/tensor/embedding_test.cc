#include "tensor/embedding.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr int64_t kTokens = 300, kWidth = 37, kVocab = 23;
WT_KERNEL_TEST(EmbeddingTest);

std::vector<int32_t> Ids() {
  Philox random(9, 0);
  std::vector<int32_t> ids(kTokens);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.NextBelow(kVocab));
  return ids;
}

TEST_P(EmbeddingTest, ForwardGathersRowsAndConverts) {
  const std::vector<int32_t> ids = Ids();
  for (DType table_type : {DType::kF32, DType::kBF16}) {
    TestArray table = TestArray::Random(kVocab * kWidth, table_type, 1),
              y = Empty(kTokens * kWidth);
    EmbeddingForward(kTokens, kWidth, kVocab, ids.data(), table.array(), y.array());
    for (int64_t i = 0; i < y.size(); ++i) {
      const double want = table[ids[i / kWidth] * kWidth + i % kWidth];
      ASSERT_EQ(y[i], dtype() == DType::kBF16 ? BF16(static_cast<float>(want)) : want);
    }
  }
}

TEST_P(EmbeddingTest, BackwardAddsEveryRowInOrder) {
  const std::vector<int32_t> ids = Ids();
  TestArray dy = Random(kTokens * kWidth, 2);
  TestArray start = TestArray::Random(kVocab * kWidth, DType::kF32, 3), want = start;
  for (int64_t i = 0; i < dy.size(); ++i) {
    const int64_t at = ids[i / kWidth] * kWidth + i % kWidth;
    want.f32()[at] += static_cast<float>(dy[i]);
  }
  ExpectSameAtAnyThreads([&] {
    TestArray d_table = start;
    EmbeddingBackward(kTokens, kWidth, kVocab, ids.data(), dy.array(), d_table.f32());
    EXPECT_EQ(d_table.bytes(), want.bytes());
    return d_table.bytes();
  });
}

TEST(EmbeddingDeathTest, RefusesIdsOutsideTheTable) {
  TestArray table(4, DType::kF32), y(2, DType::kF32);
  const int32_t id = 2;
  EXPECT_DEATH(EmbeddingForward(1, 2, 2, &id, table.array(), y.array()), "token id 2");
}

}  // namespace
}  // namespace wt::tensor
