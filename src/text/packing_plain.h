// The two layouts written as plainly as their definition, on documents held in memory: what the
// loaders are tested against and what the benchmark compares them with. Not part of the product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace wt::text {

using PlainDocument = std::vector<int32_t>;
using PlainGroup = std::vector<PlainDocument>;
using PlainFile = std::vector<PlainGroup>;
using PlainCorpus = std::vector<PlainFile>;

// Files of 1 to `groups` row groups of 1 to `group_documents` documents of up to `longest` ids in
// [0, vocab), short ones more often.
inline PlainCorpus RandomPlainCorpus(Philox* random, int files, int groups, int group_documents,
                                     int longest, int vocab) {
  PlainCorpus corpus(static_cast<size_t>(files));
  for (PlainFile& file : corpus) {
    file.resize(1 + random->NextBelow(static_cast<uint64_t>(groups)));
    for (PlainGroup& group : file) {
      group.resize(1 + random->NextBelow(static_cast<uint64_t>(group_documents)));
      for (PlainDocument& document : group) {
        const uint64_t most = 1 + random->NextBelow(static_cast<uint64_t>(longest));
        document.resize(random->NextBelow(most + 1));
        for (int32_t& id : document) {
          id = static_cast<int32_t>(random->NextBelow(static_cast<uint64_t>(vocab)));
        }
      }
    }
  }
  return corpus;
}

// The row groups of one rank, each document with BOS before it.
inline std::vector<PlainGroup> PlainRankGroups(const PlainCorpus& corpus, int32_t bos, int rank,
                                               int world) {
  std::vector<PlainGroup> groups;
  for (const PlainFile& file : corpus) {
    for (size_t g = static_cast<size_t>(rank); g < file.size(); g += static_cast<size_t>(world)) {
      groups.push_back(file[g]);
      for (PlainDocument& document : groups.back()) document.insert(document.begin(), bos);
    }
  }
  return groups;
}

// All documents of a rank in one line.
inline std::vector<int32_t> PlainStream(const std::vector<PlainGroup>& groups) {
  std::vector<int32_t> stream;
  for (const PlainGroup& group : groups) {
    for (const PlainDocument& document : group) {
      stream.insert(stream.end(), document.begin(), document.end());
    }
  }
  return stream;
}

// Best fit by scanning the whole buffer for every placement.
class PlainBestFit {
 public:
  PlainBestFit(std::vector<PlainGroup> groups, size_t context, size_t buffer, size_t refill)
      : groups_(std::move(groups)), capacity_(context + 1), least_(buffer), refill_(refill) {}

  std::vector<int32_t> NextRow() {
    std::vector<int32_t> row;
    while (row.size() < capacity_) {
      while (buffer_.size() < least_) Refill();
      const size_t remaining = capacity_ - row.size();
      const size_t at = Choose(remaining);
      const PlainDocument& document = buffer_[at];
      const size_t count = std::min(remaining, document.size());
      row.insert(row.end(), document.begin(), document.begin() + static_cast<int64_t>(count));
      buffer_.erase(buffer_.begin() + static_cast<int64_t>(at));
    }
    return row;
  }

  int64_t epoch() const { return epoch_; }

 private:
  void Refill() {
    if (group_ == groups_.size()) {
      group_ = 0;
      ++epoch_;
    }
    const PlainGroup& group = groups_[group_];
    for (size_t i = 0; i < refill_ && next_ < group.size(); ++i) buffer_.push_back(group[next_++]);
    if (next_ < group.size()) return;
    ++group_;
    next_ = 0;
  }

  size_t Choose(size_t remaining) const {
    size_t longest = buffer_.size(), shortest = 0;
    for (size_t i = 0; i < buffer_.size(); ++i) {
      const size_t length = buffer_[i].size();
      const bool better = longest == buffer_.size() || length > buffer_[longest].size();
      if (length <= remaining && better) longest = i;
      if (length < buffer_[shortest].size()) shortest = i;
    }
    return longest < buffer_.size() ? longest : shortest;
  }

  std::vector<PlainGroup> groups_;
  size_t capacity_, least_, refill_;
  std::vector<PlainDocument> buffer_;
  size_t group_ = 0, next_ = 0;
  int64_t epoch_ = 1;
};

}  // namespace wt::text
