#include "tensor/simd.h"

#include <gtest/gtest.h>

#include <string>

#include "tensor/cpu.h"

namespace wt::tensor {
namespace {

TEST(SimdTest, PlainCanBeForcedAndUndone) {
  const std::string before = VectorTargetName();
  DisableVectorTargets();
  EXPECT_STREQ(VectorTargetName(), "plain");
  EnableVectorTargets();
  EXPECT_EQ(VectorTargetName(), before);
  if (Cpu().avx2) {
    EXPECT_NE(before, "plain");
  }
}

}  // namespace
}  // namespace wt::tensor
