#include "text/packing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "text/loader_state.h"

namespace wt::text {
namespace {

constexpr int64_t kForever = int64_t{1} << 62;

// A plan is the ordinals of the row's documents, each whole but the last.
class BestFitRows final : public RowSource {
 public:
  BestFitRows(std::shared_ptr<const RankDocuments> documents, const BestFitOptions& options)
      : documents_(std::move(documents)), options_(options) {}

  bool Next(RowPlan* row) override {
    row->clear();
    int64_t remaining = options_.context + 1;
    while (remaining > 0 && Refill()) {
      const auto chosen = Choose(remaining);
      row->push_back(chosen->ordinal);
      remaining -= std::min(remaining, chosen->length);
      buffer_.erase(chosen);
    }
    return !row->empty();
  }

  int64_t Write(const RowPlan& row, std::span<int32_t> out) const override {
    size_t filled = 0;
    for (const int64_t ordinal : row) {
      const size_t length = static_cast<size_t>(documents_->Length(ordinal));
      const size_t count = std::min(out.size() - filled, length);
      documents_->Copy(ordinal, 0, out.subspan(filled, count));
      filled += count;
    }
    return static_cast<int64_t>(filled);
  }

  int64_t epoch() const override { return epoch_; }

  nlohmann::json SaveState() const override {
    std::vector<Buffered> read_order(buffer_.begin(), buffer_.end());
    std::sort(read_order.begin(), read_order.end(),
              [](const Buffered& a, const Buffered& b) { return a.order < b.order; });
    std::vector<int64_t> ordinals;
    for (const Buffered& document : read_order) ordinals.push_back(document.ordinal);
    return {{"next", next_}, {"epoch", epoch_}, {"buffer", ordinals}};
  }

  Status RestoreState(const nlohmann::json& state) override {
    const int64_t most = options_.buffer_documents + options_.refill_documents;
    WT_ASSIGN_OR_RETURN(const int64_t next, StateInt(state, "next", 0, documents_->documents()));
    WT_ASSIGN_OR_RETURN(const int64_t epoch, StateInt(state, "epoch", 1, kForever));
    WT_ASSIGN_OR_RETURN(const auto ordinals,
                        StateInts(state, "buffer", 0, documents_->documents() - 1, most));
    buffer_.clear();
    for (const int64_t ordinal : ordinals) Buffer(ordinal);
    next_ = next;
    epoch_ = epoch;
    return {};
  }

  Status CheckPlan(const RowPlan& row) const override {
    int64_t room = options_.context + 1;
    for (const int64_t ordinal : row) {
      if (room <= 0 || ordinal < 0 || ordinal >= documents_->documents()) {
        return Error(Code::kCorrupt, "loader state: a row of documents that do not exist");
      }
      room -= documents_->Length(ordinal);
    }
    if (room > 0) return Error(Code::kCorrupt, "loader state: a row that is not full");
    return {};
  }

  std::unique_ptr<RowSource> Clone() const override { return std::make_unique<BestFitRows>(*this); }

 private:
  struct Buffered {
    int64_t length, order, ordinal;  // order: when it was read
    bool operator<(const Buffered& other) const {
      return std::tie(length, order) < std::tie(other.length, other.order);
    }
  };

  void Buffer(int64_t ordinal) { buffer_.insert({documents_->Length(ordinal), order_++, ordinal}); }

  // False when there is nothing left to place.
  bool Refill() {
    while (static_cast<int64_t>(buffer_.size()) < options_.buffer_documents && ReadSome()) {
    }
    return !buffer_.empty();
  }

  bool ReadSome() {
    if (next_ == documents_->documents()) {
      if (options_.once) return false;
      next_ = 0;
      ++epoch_;
    }
    const int64_t end = std::min(documents_->GroupEnd(next_), next_ + options_.refill_documents);
    while (next_ < end) Buffer(next_++);
    return true;
  }

  std::set<Buffered>::iterator Choose(int64_t remaining) const {
    const auto too_long = buffer_.lower_bound({remaining + 1, 0, 0});
    if (too_long == buffer_.begin()) return too_long;
    return buffer_.lower_bound({std::prev(too_long)->length, 0, 0});
  }

  std::shared_ptr<const RankDocuments> documents_;
  BestFitOptions options_;
  std::set<Buffered> buffer_;
  int64_t order_ = 0;
  int64_t next_ = 0;  // ordinal of the next document to read
  int64_t epoch_ = 1;
};

// A plan is one number: how many rows were planned before it, over all streams.
class StreamRows final : public RowSource {
 public:
  StreamRows(std::shared_ptr<const RankDocuments> documents, const StreamOptions& options)
      : documents_(std::move(documents)), options_(options) {
    const int64_t n = documents_->documents();
    starts_.push_back(0);
    for (int64_t s = 1; s < options.streams; ++s) {
      // Each part keeps at least one document, however long its neighbours are.
      starts_.push_back(std::clamp(FirstDocument(s), starts_.back() + 1, n - options.streams + s));
    }
    starts_.push_back(n);
    for (int64_t& start : starts_) start = documents_->Position(start);
  }

  bool Next(RowPlan* row) override {
    if (options_.once && taken_ * options_.context + 1 >= documents_->tokens()) return false;
    row->assign(1, taken_++);
    return true;
  }

  int64_t Write(const RowPlan& row, std::span<int32_t> out) const override {
    const int64_t stream = row[0] % options_.streams;
    const int64_t begin = starts_[stream], length = starts_[stream + 1] - begin;
    int64_t at = row[0] / options_.streams * options_.context % length;
    if (options_.once) out = out.first(std::min<size_t>(out.size(), length - at));
    const int64_t written = static_cast<int64_t>(out.size());
    while (!out.empty()) {
      const size_t count = std::min<size_t>(out.size(), length - at);
      documents_->CopyStream(begin + at, out.first(count));
      out = out.subspan(count);
      at = 0;
    }
    return written;
  }

  int64_t epoch() const override {
    int64_t epoch = 1;
    for (int64_t s = 0; s < std::min(options_.streams, taken_); ++s) {
      const int64_t rows = (taken_ - s - 1) / options_.streams + 1;
      const int64_t last_input = rows * options_.context - 1;
      epoch = std::max(epoch, 1 + last_input / (starts_[s + 1] - starts_[s]));
    }
    return epoch;
  }

  nlohmann::json SaveState() const override { return {{"rows", taken_}}; }

  Status RestoreState(const nlohmann::json& state) override {
    WT_ASSIGN_OR_RETURN(taken_, StateInt(state, "rows", 0, MostRows()));
    return {};
  }

  Status CheckPlan(const RowPlan& row) const override {
    if (row.size() == 1 && row[0] >= 0 && row[0] < taken_) return {};
    return Error(Code::kCorrupt, "loader state: a row that its stream has not come to");
  }

  std::unique_ptr<RowSource> Clone() const override { return std::make_unique<StreamRows>(*this); }

 private:
  // The first document that starts at or after s/S of the tokens.
  int64_t FirstDocument(int64_t s) const {
    const int64_t tokens = documents_->tokens();
    const int64_t position =
        tokens / options_.streams * s + tokens % options_.streams * s / options_.streams;
    const int64_t ordinal = documents_->OrdinalAt(position);
    return documents_->Position(ordinal) < position ? ordinal + 1 : ordinal;
  }

  // Keeps positions in 64 bits.
  int64_t MostRows() const { return kForever / options_.context; }

  std::shared_ptr<const RankDocuments> documents_;
  StreamOptions options_;
  std::vector<int64_t> starts_;  // [streams + 1], positions
  int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> MakeBestFitRows(std::shared_ptr<const RankDocuments> documents,
                                           const BestFitOptions& options) {
  WT_CHECK(options.context >= 1 && options.buffer_documents >= 1 && options.refill_documents >= 1,
           "context {}, buffer {}, refill {}", options.context, options.buffer_documents,
           options.refill_documents);
  return std::make_unique<BestFitRows>(std::move(documents), options);
}

Result<std::unique_ptr<RowSource>> MakeStreamRows(std::shared_ptr<const RankDocuments> documents,
                                                  const StreamOptions& options) {
  WT_CHECK(options.context >= 1 && options.streams >= 1 && (!options.once || options.streams == 1),
           "context {}, streams {}", options.context, options.streams);
  if (documents->documents() < options.streams) {
    return Error(Code::kInvalidArgument,
                 "{} streams, but the rank has {} documents; use at most one stream a document",
                 options.streams, documents->documents());
  }
  return std::unique_ptr<RowSource>(std::make_unique<StreamRows>(std::move(documents), options));
}

}  // namespace wt::text
