#include "text/loader_eval.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace wt::text {
namespace {

Status CheckConfig(const EvalConfig& c) {
  if (c.context < 1 || c.rows < 1 || c.ranks < 1 || c.buffer_documents < 1 ||
      c.refill_documents < 1) {
    return Error(Code::kInvalidArgument,
                 "evaluation: context {}, rows {}, ranks {}, buffer_documents {}, refill_documents "
                 "{}; expected each to be at least 1",
                 c.context, c.rows, c.ranks, c.buffer_documents, c.refill_documents);
  }
  if (c.total_tokens / c.ranks < c.context) {
    return Error(Code::kInvalidArgument,
                 "evaluation: {} tokens over {} ranks are less than one row of {} each; ask for at "
                 "least {}",
                 c.total_tokens, c.ranks, c.context, c.context * c.ranks);
  }
  return {};
}

Result<std::unique_ptr<RowSource>> MakeRows(std::shared_ptr<const RankDocuments> documents,
                                            const EvalConfig& c) {
  if (c.layout == Layout::kStream) return MakeStreamRows(documents, {c.context, 1, true});
  return MakeBestFitRows(documents, {c.context, c.buffer_documents, c.refill_documents, true});
}

}  // namespace

EvalBatches::EvalBatches(const EvalConfig& config, std::vector<std::unique_ptr<RowSource>> fresh)
    : config_(config),
      rows_per_rank_(config.total_tokens / config.ranks / config.context),
      planned_(rows_per_rank_ * config.ranks * config.context),
      fresh_(std::move(fresh)),
      row_(static_cast<size_t>(config.context + 1)) {
  Reset();
}

Result<EvalBatches> EvalBatches::Create(const TokenSet& set, const EvalConfig& config) {
  WT_RETURN_IF_ERROR(CheckConfig(config));
  std::vector<std::unique_ptr<RowSource>> fresh;
  for (int rank = 0; rank < config.ranks; ++rank) {
    auto documents = RankDocuments::Create(set, config.bos, rank, config.ranks);
    if (!documents.ok()) return documents.status().WithContext("evaluation");
    WT_ASSIGN_OR_RETURN(
        auto rows,
        MakeRows(std::make_shared<const RankDocuments>(std::move(documents).value()), config));
    fresh.push_back(std::move(rows));
  }
  return EvalBatches(config, std::move(fresh));
}

void EvalBatches::Reset() {
  source_ = fresh_.front()->Clone();
  rank_ = 0;
  rank_rows_ = 0;
  tokens_ = 0;
}

// Plans the next row into plan_, of the next rank when this one has given its share.
bool EvalBatches::PlanRow() {
  while (rank_rows_ == rows_per_rank_ || !source_->Next(&plan_)) {
    if (rank_ + 1 == fresh_.size()) return false;
    source_ = fresh_[++rank_]->Clone();
    rank_rows_ = 0;
  }
  ++rank_rows_;
  return true;
}

void EvalBatches::WriteRow(int32_t* inputs, int32_t* targets) {
  const int64_t filled = source_->Write(plan_, row_);
  std::fill(row_.begin() + filled, row_.end(), config_.bos);
  SplitRow(row_, -1, inputs, targets);
  const int64_t scored = std::max<int64_t>(filled - 1, 0);
  std::fill(targets + scored, targets + config_.context, -1);
  tokens_ += scored;
}

bool EvalBatches::Next(Batch* batch) {
  const int64_t size = config_.rows * config_.context;
  batch->inputs.assign(static_cast<size_t>(size), config_.bos);
  batch->targets.assign(static_cast<size_t>(size), -1);
  batch->epoch = 1;
  int64_t at = 0;
  for (; at < size && PlanRow(); at += config_.context) {
    WriteRow(batch->inputs.data() + at, batch->targets.data() + at);
  }
  return at > 0;
}

}  // namespace wt::text
