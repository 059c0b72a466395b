// EvalBatches: a fixed set of validation tokens in batches of one shape. It reproduces, in one
// process, what `ranks` processes would evaluate together, because which tokens those are depends
// on how many they are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "text/loader.h"
#include "text/packing.h"

namespace wt::text {

struct EvalConfig {
  Layout layout = Layout::kStream;
  int64_t context = 0;       // T
  int64_t rows = 0;          // B; changes the shape of batches, not which tokens are scored
  int64_t total_tokens = 0;  // over all ranks
  int ranks = 1;             // 8 for the contest's chip
  int32_t bos = 0;
  int64_t buffer_documents = 1000, refill_documents = 128;  // best fit
};

// Each rank reads its own row groups from the start and contributes the first
// floor(total_tokens / (ranks * context)) rows; ranks follow one another. A rank whose documents
// end sooner stops there: nothing is scored twice. What it lacks is missing from tokens().
class EvalBatches {
 public:
  // Fails when a setting makes no sense, a rank gets no documents, or no whole row fits its share.
  static Result<EvalBatches> Create(const TokenSet& set, const EvalConfig& config);

  // Overwrites `batch`; false when all was given. Batches are always [rows, context]: rows and
  // tokens past the end have inputs BOS and targets -1, which count for nothing.
  bool Next(Batch* batch);
  // Starts over with the same tokens.
  void Reset();

  int64_t tokens() const { return tokens_; }           // targets handed out, without padding
  int64_t planned_tokens() const { return planned_; }  // the request rounded down to whole rows
  // After Next() has returned false: was the validation set too short for the request?
  bool short_of_tokens() const { return tokens_ < planned_; }

 private:
  EvalBatches(const EvalConfig& config, std::vector<std::unique_ptr<RowSource>> fresh);
  bool PlanRow();
  void WriteRow(int32_t* inputs, int32_t* targets);

  EvalConfig config_;
  int64_t rows_per_rank_, planned_;
  std::vector<std::unique_ptr<RowSource>> fresh_;  // [ranks], never advanced
  std::unique_ptr<RowSource> source_;              // of the rank being read
  size_t rank_ = 0;
  int64_t rank_rows_ = 0;  // rows this rank has given
  int64_t tokens_ = 0;
  RowPlan plan_;
  std::vector<int32_t> row_;  // [context + 1]
};

}  // namespace wt::text
