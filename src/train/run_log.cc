#include "train/run_log.h"

#include <cmath>

namespace wt::train {
namespace {

// -1 for a row without a step, which no cut keeps out.
int64_t StepOf(const Json& row) {
  const auto step = row.find("step");
  return step != row.end() && step->is_number_integer() ? step->get<int64_t>() : -1;
}

Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

Result<RunLog> RunLog::Open(const std::string& path, int64_t last_step) {
  std::vector<Json> rows;
  WT_ASSIGN_OR_RETURN(JsonlFile file, JsonlFile::Open(path, &rows));
  size_t keep = 0;
  while (keep < rows.size() && StepOf(rows[keep]) <= last_step) ++keep;
  WT_RETURN_IF_ERROR(file.Truncate(keep));
  return RunLog(std::move(file), last_step);
}

Status RunLog::Write(const char* kind, const LogPoint& at, const Json& fields) {
  WT_CHECK(at.step >= last_step_, "step {} after step {}", at.step, last_step_);
  last_step_ = at.step;
  Json row = {
      {"kind", kind}, {"step", at.step}, {"charged", Finite(at.charged)}, {"tokens", at.tokens}};
  row.update(fields);
  return file_.Append(row);
}

Status RunLog::Add(const StepRow& row) {
  WT_CHECK(row.at.step > last_step_, "step {} is in the log already", row.at.step);
  return Write("step", row.at,
               {{"loss", Finite(row.loss)},
                {"lr_scale", Finite(row.lr_scale)},
                {"muon_momentum", Finite(row.muon_momentum)},
                {"grad_norm", Finite(row.grad_norm)},
                {"tokens_per_second", Finite(row.tokens_per_second)}});
}

Status RunLog::Add(const EvalRow& row) {
  return Write("eval", row.at,
               {{"val_bpb", Finite(row.val_bpb)},
                {"nats", Finite(row.nats)},
                {"bytes", row.bytes},
                {"scored_tokens", row.scored_tokens},
                {"context", row.context},
                {"ranks", row.ranks},
                {"layout", row.layout},
                {"seconds", Finite(row.seconds)}});
}

Status RunLog::Add(const SaveRow& row) {
  return Write("save", row.at,
               {{"folder", row.folder}, {"bytes", row.bytes}, {"seconds", Finite(row.seconds)}});
}

Status RunLog::Add(const EventRow& row) {
  return Write("event", row.at, {{"name", row.name}, {"message", row.message}});
}

}  // namespace wt::train
