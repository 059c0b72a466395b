// The run log: what happened in a run, one JSON line each (docs/formats/log.md), for plots, reports
// and other programs. After a resume it reads as if the run had never been interrupted.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "train/jsonl_file.h"

namespace wt::train {

// Where in the run something happened; every row begins with it.
struct LogPoint {
  int64_t step = 0;    // optimiser steps done
  double charged = 0;  // seconds
  int64_t tokens = 0;  // tokens trained on
};

struct StepRow {
  LogPoint at;
  double loss = 0;  // nats a token, mean over the step's targets
  double lr_scale = 1;
  double muon_momentum = 0;
  double grad_norm = 0;  // before clipping; NaN where it was not computed
  double tokens_per_second = 0;
};

struct EvalRow {
  LogPoint at;
  double val_bpb = 0, nats = 0;
  int64_t bytes = 0, scored_tokens = 0;
  int64_t context = 0, ranks = 1;
  std::string layout;  // "stream" or "best_fit"
  double seconds = 0;
};

struct SaveRow {
  LogPoint at;
  std::string folder;
  int64_t bytes = 0;
  double seconds = 0;
};

struct EventRow {
  LogPoint at;
  std::string name;  // "start", "resume", "budget_end", "nan", …
  std::string message;
};

class RunLog {
 public:
  // Opens or creates the file and cuts what lies after `last_step`, the step of the checkpoint that
  // the run goes on from (0 for a new run): those steps will come again.
  static Result<RunLog> Open(const std::string& path, int64_t last_step);

  // Numbers that are not finite are written as null. Requires steps that do not go back.
  Status Add(const StepRow& row);
  Status Add(const EvalRow& row);
  Status Add(const SaveRow& row);
  Status Add(const EventRow& row);
  Status Sync() { return file_.Sync(); }

 private:
  RunLog(JsonlFile file, int64_t last_step) : file_(std::move(file)), last_step_(last_step) {}
  Status Write(const char* kind, const LogPoint& at, const Json& fields);
  JsonlFile file_;
  int64_t last_step_;
};

}  // namespace wt::train
