#include "tensor/gate.h"

#include "tensor/kernel_testing.h"

namespace wt::tensor {
namespace {

constexpr GateShape kGateShape{4, 3, 11, 3.0f};
constexpr int64_t kGates = 12, kGateSize = kGates * 11;
WT_KERNEL_TEST(GateTest);

Doubles GateTwin(const Doubles& v, const Doubles& g, const Doubles& e) {
  Doubles y = v;
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] += kGateShape.scale / (1 + std::exp(-g[i / kGateShape.head_dim])) * e[i];
  }
  return y;
}

TEST_P(GateTest, ForwardIsTheTwin) {
  TestArray v = Random(kGateSize, 1), g = Random(kGates, 2), e = Random(kGateSize, 3);
  const Doubles want = GateTwin(v.doubles(), g.doubles(), e.doubles());
  GateForward(kGateShape, v.array(), g.array(), e.array(), v.array());
  ExpectClose(v, want);
}

TEST_P(GateTest, BackwardIsTheTwinsGradient) {
  TestArray v = Random(kGateSize, 1), g = Random(kGates, 2), e = Random(kGateSize, 3),
            dy = Random(kGateSize, 4);
  TestArray dg = Empty(kGates), de = Empty(kGateSize);
  GateBackward(kGateShape, g.array(), e.array(), dy.array(), dg.array(), de.array());
  ExpectClose(dg,
              NumericGradient(g.doubles(),
                              [&](const Doubles& at) {
                                return Inner(GateTwin(v.doubles(), at, e.doubles()), dy.doubles());
                              }),
              1e-5);
  ExpectClose(de, NumericGradient(e.doubles(), [&](const Doubles& at) {
                return Inner(GateTwin(v.doubles(), g.doubles(), at), dy.doubles());
              }));
}

}  // namespace
}  // namespace wt::tensor
