#include "eval/inference.h"

#include <algorithm>

#include "tensor/paths.h"

namespace wt::eval {

Result<std::unique_ptr<InferenceEngine>> InferenceEngine::Create(const nn::ModelConfig& config,
                                                                 const nn::ModelFunction& model,
                                                                 nn::TensorStore* weights,
                                                                 const nn::CachedSizes& sizes) {
  std::unique_ptr<InferenceEngine> engine(new InferenceEngine());
  engine->sizes_ = sizes;
  engine->vocab_ = config.vocab_size;
  WT_ASSIGN_OR_RETURN(engine->ids_, nn::MakeCachedProgram(config, model, sizes));
  WT_ASSIGN_OR_RETURN(engine->executor_,
                      nn::Executor::Create(std::move(engine->ids_.program), weights));
  engine->executor_->Run(nn::Phase::kPrepare);
  return engine;
}

std::span<float> InferenceEngine::Run(std::span<const Piece> pieces,
                                      std::span<const int32_t> wanted) {
  int32_t* tokens = executor_->Data<int32_t>(ids_.tokens);
  int32_t* positions = executor_->Data<int32_t>(ids_.positions);
  int32_t* paths = executor_->Data<int32_t>(ids_.paths);
  auto* segments = reinterpret_cast<tensor::PathSegment*>(executor_->Data<int32_t>(ids_.segments));
  int64_t rows = 0, named = 0, count = 0;
  for (const Piece& piece : pieces) {
    const auto n = static_cast<int64_t>(piece.tokens.size());
    const auto length = static_cast<int64_t>(piece.path.size());
    WT_CHECK(n >= 1 && length >= n && length <= sizes_.positions && count < sizes_.segments &&
                 rows + n <= sizes_.rows && named + length <= sizes_.paths,
             "a piece of {} tokens at {} does not fit after {} rows", n, length, rows);
    segments[count++] = {static_cast<int32_t>(rows), static_cast<int32_t>(n),
                         static_cast<int32_t>(length - n), static_cast<int32_t>(named)};
    std::copy(piece.tokens.begin(), piece.tokens.end(), tokens + rows);
    for (int64_t i = 0; i < n; ++i) positions[rows + i] = static_cast<int32_t>(length - n + i);
    std::copy(piece.path.begin(), piece.path.end(), paths + named);
    rows += n;
    named += length;
  }
  // A row must be asked for: shapes are positive.
  const auto asked = std::max<int64_t>(1, static_cast<int64_t>(wanted.size()));
  WT_CHECK(rows >= 1 && asked <= sizes_.wanted, "{} rows, {} wanted", rows, asked);
  int32_t* wanted_rows = executor_->Data<int32_t>(ids_.wanted);
  *wanted_rows = 0;
  std::copy(wanted.begin(), wanted.end(), wanted_rows);
  const Status status = executor_->Reshape({{ids_.tokens, {1, rows}},
                                            {ids_.positions, {rows}},
                                            {ids_.segments, {count, 4}},
                                            {ids_.paths, {named}},
                                            {ids_.wanted, {asked}}});
  WT_CHECK(status.ok(), "{}", status.message());
  executor_->Run(nn::Phase::kForward);
  return {executor_->Data<float>(ids_.logits), wanted.size() * static_cast<size_t>(vocab_)};
}

}  // namespace wt::eval
