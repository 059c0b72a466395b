// What the cores of a logical core have in common: HBM tensors declared as shared, and the places
// where they meet (core_barrier, sendrecv). Cores run on threads of their own but one at a time:
// the turn passes only where a core waits or ends, so that every run gives the same bytes.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "chip/tensor.h"

namespace wt::chip {

class Hbm {
 public:
  // `capacity_bytes` of all cores together; 0: no limit. Requires cores 1 or 2.
  Hbm(int cores, int64_t capacity_bytes) : cores_(cores), capacity_(capacity_bytes) {}

  int cores() const { return cores_; }

  // Waits until it is this core's turn. Every call of a core into the simulator begins so.
  void TakeTurn(int rank);
  // The core will issue nothing more; others may go on, and fail if they wait for it.
  void End(int rank);

  // Waits until the other core calls it with the same `meeting` ("core_barrier", "sendrecv pipe
  // 0"); a deadlock error when that cannot happen any more. `where`: file and line, for messages.
  Status Barrier(int rank, const std::string& meeting, const std::string& where);
  // Meets likewise; gives `bytes` and returns what the other core gave.
  Result<std::vector<std::byte>> Exchange(int rank, const std::string& meeting,
                                          const std::string& where, std::vector<std::byte> bytes);

  // The bookkeeping of Core::Allocate and Release. An error when HBM is full.
  Status Reserve(int64_t bytes, const std::string& name);
  void Unreserve(int64_t bytes);
  // The n-th shared tensor that `rank` declares, if the other core has declared it before; else
  // null, and `Publish` must follow. Both cores declare the same ones in the same order.
  std::shared_ptr<Tensor> FindShared(int rank);
  void Publish(int rank, std::shared_ptr<Tensor> tensor);

 private:
  struct Seat {
    bool ended = false;
    bool waiting = false;
    Status failure;  // why its wait ended without a meeting
    std::string meeting, where;
    std::vector<std::byte> bytes;  // given, then (after a meeting) received
    size_t shared_declared = 0;
  };

  Status Meet(std::unique_lock<std::mutex>& lock, int rank, const std::string& meeting,
              const std::string& where);
  Status MissedMeeting(int rank) const;
  bool CanRun(int rank) const { return !seats_[rank].ended && !seats_[rank].waiting; }
  void PassTurn();

  const int cores_;
  const int64_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
  Seat seats_[2];
  int64_t used_ = 0;
  std::vector<std::shared_ptr<Tensor>> shared_;
};

}  // namespace wt::chip
