#include "chip/schedule/dma_engines.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wt::chip {

namespace {

// A transfer as engines see it: equal descriptors.
struct Pieces {
  double descriptor_ns = 0;
  double count = 0;  // of one partition; of the whole transfer when it names no partitions
};

double RateShare(const Timing& timing, const DmaShape& shape) {
  if (shape.accumulate) return timing.dma_accumulate_share;
  if (!shape.transpose) return 1;
  return shape.load ? timing.dma_transpose_load_share : timing.dma_transpose_onchip_share;
}

Pieces PiecesOf(const Timing& timing, const DmaShape& shape) {
  const double rows = std::max(shape.partitions, 1);
  const double row_bytes = std::max(1.0, static_cast<double>(shape.bytes) / rows);
  const double run = std::clamp(static_cast<double>(shape.descriptor_bytes), 1.0, row_bytes);
  const double per_run = std::ceil(run / timing.dma_max_descriptor_bytes);
  Pieces pieces;
  pieces.count = std::max(1.0, std::round(row_bytes / run) * per_run);
  const double bytes = row_bytes / pieces.count;
  pieces.descriptor_ns = (timing.dma_descriptor_ns + bytes / timing.dma_engine_bytes_per_ns) /
                         RateShare(timing, shape);
  if (!shape.store) return pieces;
  if (bytes < timing.dma_small_bytes) pieces.descriptor_ns *= timing.dma_small_write_factor;
  if (!shape.aligned) pieces.descriptor_ns += timing.dma_unaligned_store_ns / per_run;
  return pieces;
}

// Descriptors of engine `engine`.
double ShareOf(const Timing& timing, const DmaShape& shape, const Pieces& pieces, int engine) {
  if (shape.partitions <= 0) return pieces.count / timing.dma_engines;
  const int per = timing.dma_partitions_per_engine;
  const int begin = std::max<int>(shape.start_partition, engine * per);
  const int end = std::min<int>(shape.start_partition + shape.partitions, (engine + 1) * per);
  return std::max(0, end - begin) * pieces.count;
}

// Less than this many descriptors are rounding, not work.
constexpr double kNothing = 1e-6;

}  // namespace

DmaEngines::DmaEngines(const Timing& timing, int num_queues) : timing_(timing) {
  Group all;
  all.count = timing.dma_engines;
  all.engines = static_cast<uint32_t>((uint64_t{1} << timing.dma_engines) - 1);
  all.queues.resize(static_cast<size_t>(num_queues));
  groups_.push_back(std::move(all));
}

void DmaEngines::MoveTo(double now_ns) {
  const double passed_ns = now_ns - now_ns_;
  const double spread_ns = std::clamp(spread_until_ns_ - now_ns_, 0.0, std::max(0.0, passed_ns));
  now_ns_ = now_ns;
  if (passed_ns <= 0) return;
  bool any = false;
  for (Group& group : groups_) {
    if (group.active.empty()) continue;
    any = true;
    busy_ns_ += passed_ns * group.count;
    const double rounds = passed_ns / (group.round_ns * pace_);
    for (const int queue : group.active) {
      group.queues[static_cast<size_t>(queue)].front().descriptors -= rounds;
    }
  }
  active_ns_ += any ? passed_ns : spread_ns;
}

void DmaEngines::Retime(Group& group) {
  group.round_ns = 0;
  double least = kNever;
  for (const int queue : group.active) {
    const Part& part = group.queues[static_cast<size_t>(queue)].front();
    group.round_ns += part.descriptor_ns;
    least = std::min(least, part.descriptors);
  }
  group.end_ns =
      group.active.empty() ? kNever : now_ns_ + std::max(0.0, least) * group.round_ns * pace_;
  next_ns_ = release_ns_;
  for (const Group& each : groups_) next_ns_ = std::min(next_ns_, each.end_ns);
}

uint32_t DmaEngines::NewTransfer(Number number, bool load) {
  uint32_t index = static_cast<uint32_t>(transfers_.size());
  if (free_transfers_.empty()) {
    transfers_.emplace_back();
  } else {
    index = free_transfers_.back();
    free_transfers_.pop_back();
  }
  transfers_[index] = {number, 0, load, kNever, now_ns_};
  return index;
}

// Makes `engines` of the group a group of their own.
void DmaEngines::Split(size_t index, uint32_t engines) {
  groups_.push_back(groups_[index]);
  Group &rest = groups_[index], &part = groups_.back();
  part.engines = engines;
  part.count = std::popcount(engines);
  rest.engines &= ~engines;
  rest.count -= part.count;
  for (const auto& queue : part.queues) {
    for (const Part& each : queue) ++transfers_[each.transfer].parts;
  }
}

void DmaEngines::Arrive(double now_ns, Number number, int queue, const DmaShape& shape,
                        double drain_ns) {
  MoveTo(now_ns);
  if (held_.empty() && drain_ns <= 0) {
    Start(number, queue, shape);
    return;
  }
  held_.push_back({number, queue, shape, drain_ns});
  LetGo();
}

// Starts what was held as soon as the engines have been dry for long enough.
void DmaEngines::LetGo() {
  while (!held_.empty()) {
    const Held next = held_.front();
    if (next.drain_ns > 0) {
      if (active_engines() > 0) break;
      if (release_ns_ >= kNever) release_ns_ = now_ns_ + next.drain_ns;
      next_ns_ = std::min(next_ns_, release_ns_);
      if (release_ns_ > now_ns_) break;
      release_ns_ = kNever;
    }
    held_.pop_front();
    Start(next.number, next.queue, next.shape);
  }
}

void DmaEngines::Start(Number number, int queue, const DmaShape& shape) {
  if (groups_.size() > 1 && active_engines() == 0) {  // nothing tells them apart any more
    groups_.resize(1);
    groups_[0].count = timing_.dma_engines;
    groups_[0].engines = static_cast<uint32_t>((uint64_t{1} << timing_.dma_engines) - 1);
  }
  const uint32_t transfer = NewTransfer(number, shape.load);
  const auto pieces = PiecesOf(timing_, shape);
  for (size_t i = 0; i < groups_.size(); ++i) {
    const int first = std::countr_zero(groups_[i].engines);
    const double share = ShareOf(timing_, shape, pieces, first);
    uint32_t others = 0;
    for (int engine = first + 1; engine < timing_.dma_engines; ++engine) {
      const bool here = groups_[i].engines >> engine & 1;
      if (here && ShareOf(timing_, shape, pieces, engine) != share) others |= 1u << engine;
    }
    if (others != 0) Split(i, others);  // it comes up later in this loop
    if (share <= 0) continue;
    Group& group = groups_[i];
    auto& line = group.queues[static_cast<size_t>(queue)];
    if (line.empty()) group.active.push_back(queue);
    const double transfer_ns =
        timing_.dma_transfer_ns + (shape.store ? timing_.dma_store_transfer_ns : 0);
    line.push_back({transfer, share, pieces.descriptor_ns + transfer_ns / share});
    ++transfers_[transfer].parts;
    descriptors_ += static_cast<int64_t>(share) * group.count;
    if (line.size() == 1) transfers_[transfer].first_ns = now_ns_;
  }
  for (Group& group : groups_) Retime(group);
}

void DmaEngines::Advance(double now_ns, std::vector<Finished>& finished) {
  MoveTo(now_ns);
  for (Group& group : groups_) {
    if (group.end_ns > now_ns) continue;
    double least = kNever;  // ends now, however its arithmetic was rounded
    for (const int queue : group.active) {
      least = std::min(least, group.queues[static_cast<size_t>(queue)].front().descriptors);
    }
    for (size_t i = 0; i < group.active.size();) {
      auto& line = group.queues[static_cast<size_t>(group.active[i])];
      if (line.front().descriptors > least + kNothing) {
        ++i;
        continue;
      }
      EndPart(line.front().transfer, finished);
      line.pop_front();
      if (line.empty()) {
        group.active.erase(group.active.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      Transfer& next = transfers_[line.front().transfer];
      next.first_ns = std::min(next.first_ns, now_ns);
      ++i;
    }
    Retime(group);
  }
  LetGo();
}

void DmaEngines::EndPart(uint32_t index, std::vector<Finished>& finished) {
  Transfer& transfer = transfers_[index];
  transfer.last_ns = now_ns_;
  if (transfer.load) spread_until_ns_ = now_ns_ + timing_.dma_load_spread_ns;
  if (--transfer.parts > 0) return;
  finished.push_back({transfer.number, std::min(transfer.first_ns, now_ns_), now_ns_});
  free_transfers_.push_back(index);
}

void DmaEngines::SetPace(double now_ns, double pace) {
  if (pace == pace_) return;
  MoveTo(now_ns);
  pace_ = pace;
  for (Group& group : groups_) Retime(group);
}

int DmaEngines::active_engines() const {
  int active = 0;
  for (const Group& group : groups_) {
    if (!group.active.empty()) active += group.count;
  }
  return active;
}

}  // namespace wt::chip
