#include "chip/hbm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "chip/testing.h"

namespace wt::chip::hbm_test {
namespace {

// Runs a function on each of two cores' threads.
template <class Fn>
void OnBothCores(Hbm& hbm, const Fn& fn) {
  std::thread other([&] {
    hbm.TakeTurn(1);
    fn(1);
    hbm.End(1);
  });
  hbm.TakeTurn(0);
  fn(0);
  hbm.End(0);
  other.join();
}

TEST(Hbm, CoresRunInTurnsAndMeet) {
  std::vector<int> order;
  Hbm hbm(2, 0);
  OnBothCores(hbm, [&](int rank) {
    for (int round = 0; round < 3; ++round) {
      order.push_back(10 * round + rank);
      EXPECT_TRUE(hbm.Barrier(rank, "core_barrier", "k.py:1").ok());
    }
  });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 10, 11, 20, 21));
}

TEST(Hbm, ExchangeGivesWhatTheOtherGave) {
  Hbm hbm(2, 0);
  OnBothCores(hbm, [&](int rank) {
    const auto got = hbm.Exchange(rank, "sendrecv pipe 0", "k.py:2", {std::byte(rank + 1)});
    ASSERT_TRUE(got.ok());
    EXPECT_EQ((*got)[0], std::byte(2 - rank));
  });
}

TEST(Hbm, WaitingForACoreThatEndedIsADeadlock) {
  Hbm hbm(2, 0);
  OnBothCores(hbm, [&](int rank) {
    if (rank == 1) return;
    const Status status = hbm.Barrier(rank, "core_barrier", "k.py:3");
    EXPECT_EQ(ClassOf(status), ErrorClass::kDeadlock);
    EXPECT_THAT(status.message(), testing::HasSubstr("core 1, which has ended"));
  });
}

TEST(Hbm, WaitingInDifferentPlacesIsADeadlockForBoth) {
  Hbm hbm(2, 0);
  OnBothCores(hbm, [&](int rank) {
    const Status status =
        hbm.Barrier(rank, rank ? "sendrecv pipe 3" : "core_barrier", rank ? "k.py:5" : "k.py:4");
    EXPECT_EQ(ClassOf(status), ErrorClass::kDeadlock);
    EXPECT_THAT(status.message(), testing::HasSubstr(rank ? "k.py:4" : "k.py:5"));
  });
}

TEST(Hbm, OneCoreHasNobodyToMeet) {
  Hbm hbm(1, 0);
  EXPECT_EQ(ClassOf(hbm.Barrier(0, "core_barrier", "")), ErrorClass::kDeadlock);
}

TEST(Hbm, FullIsACapacityError) {
  Hbm hbm(1, 100);
  EXPECT_TRUE(hbm.Reserve(60, "a").ok());
  EXPECT_EQ(ClassOf(hbm.Reserve(60, "b")), ErrorClass::kCapacity);
  hbm.Unreserve(60);
  EXPECT_TRUE(hbm.Reserve(60, "b").ok());
}

TEST(Hbm, SharedTensorsAreTheSameOnBothCores) {
  auto hbm = std::make_shared<Hbm>(2, 0);
  TensorSpec spec;
  spec.memory = Memory::kHbm;
  spec.shared = true;
  spec.partition_bytes = 64;
  Core cores[2] = {{TestMachine(), {}, 0, hbm}, {TestMachine(), {}, 1, hbm}};
  Tensor* tensors[2];
  OnBothCores(*hbm, [&](int rank) { tensors[rank] = *cores[rank].Allocate(spec); });
  EXPECT_EQ(tensors[0], tensors[1]);
}

}  // namespace
}  // namespace wt::chip::hbm_test
