// The choice of instruction set: a thin cover over Highway's, so that other rooms need not know it.
#include "tensor/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/simd.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {
// The baseline goes by different names with different compilers.
const char* Name() {
  return HWY_TARGET == HWY_STATIC_TARGET ? "plain" : hwy::TargetName(HWY_TARGET);
}
}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Name);

void DisableVectorTargets() { hwy::DisableTargets(~HWY_STATIC_TARGET); }
void EnableVectorTargets() { hwy::DisableTargets(0); }
const char* VectorTargetName() { return HWY_DYNAMIC_DISPATCH(Name)(); }

}  // namespace wt::tensor
#endif
