#include "chip/hbm.h"

#include <array>
#include <utility>

#include "chip/error_class.h"

namespace wt::chip {

void Hbm::TakeTurn(int rank) {
  if (cores_ == 1) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == rank || seats_[1 - rank].ended; });
  turn_ = rank;
}

void Hbm::End(int rank) {
  std::unique_lock lock(mutex_);
  seats_[rank].ended = true;
  if (cores_ == 2) PassTurn();
}

// Gives the turn to the first core that can go on; when both wait, neither ever can.
void Hbm::PassTurn() {
  if (!CanRun(0) && !CanRun(1)) {
    // Both reasons are put in words while both still wait.
    std::array<Status, 2> reasons = {MissedMeeting(0), MissedMeeting(1)};
    for (int rank : {0, 1}) {
      if (!seats_[rank].waiting) continue;
      seats_[rank].failure = std::move(reasons[static_cast<size_t>(rank)]);
      seats_[rank].waiting = false;
    }
  }
  if (!CanRun(turn_)) turn_ = 1 - turn_;
  changed_.notify_all();
}

Status Hbm::MissedMeeting(int rank) const {
  const Seat& self = seats_[rank];
  const Seat& other = seats_[1 - rank];
  const std::string reason =
      other.ended ? "has ended" : fmt::format("waits in {} ({})", other.meeting, other.where);
  return KernelError(ErrorClass::kDeadlock,
                     "{}: core {} waits for core {}, which {}; both cores must issue the same "
                     "sendrecv and core_barrier calls in the same order",
                     self.meeting, rank, 1 - rank, reason);
}

Status Hbm::Meet(std::unique_lock<std::mutex>& lock, int rank, const std::string& meeting,
                 const std::string& where) {
  Seat& self = seats_[rank];
  Seat& other = seats_[1 - rank];
  self.meeting = meeting;
  self.where = where;
  if (other.waiting && other.meeting == meeting) {
    std::swap(self.bytes, other.bytes);
    other.waiting = false;
    turn_ = 0;
    changed_.notify_all();
  } else {
    self.waiting = true;
    self.failure = {};
    PassTurn();
  }
  // A core that has failed waits for its turn too: only one of the two ever runs.
  changed_.wait(lock, [&] { return !self.waiting && (turn_ == rank || other.ended); });
  turn_ = rank;
  return std::exchange(self.failure, {});
}

Status Hbm::Barrier(int rank, const std::string& meeting, const std::string& where) {
  return Exchange(rank, meeting, where, {}).status();
}

Result<std::vector<std::byte>> Hbm::Exchange(int rank, const std::string& meeting,
                                             const std::string& where,
                                             std::vector<std::byte> bytes) {
  if (cores_ == 1)
    return KernelError(ErrorClass::kDeadlock,
                       "{}: only one core runs; launch the kernel on two: kernel[2](…)", meeting);
  std::unique_lock lock(mutex_);
  seats_[rank].bytes = std::move(bytes);
  WT_RETURN_IF_ERROR(Meet(lock, rank, meeting, where));
  return std::move(seats_[rank].bytes);
}

Status Hbm::Reserve(int64_t bytes, const std::string& name) {
  std::unique_lock lock(mutex_);
  if (capacity_ > 0 && used_ + bytes > capacity_)
    return KernelError(
        ErrorClass::kCapacity,
        "hbm tensor {}: {} bytes do not fit, {} of {} are in use; use a smaller batch", name, bytes,
        used_, capacity_);
  used_ += bytes;
  return {};
}

void Hbm::Unreserve(int64_t bytes) {
  std::unique_lock lock(mutex_);
  used_ -= bytes;
}

std::shared_ptr<Tensor> Hbm::FindShared(int rank) {
  std::unique_lock lock(mutex_);
  const size_t n = seats_[rank].shared_declared;
  if (n >= shared_.size()) return nullptr;
  ++seats_[rank].shared_declared;
  return shared_[n];
}

void Hbm::Publish(int rank, std::shared_ptr<Tensor> tensor) {
  std::unique_lock lock(mutex_);
  ++seats_[rank].shared_declared;
  shared_.push_back(std::move(tensor));
}

}  // namespace wt::chip
