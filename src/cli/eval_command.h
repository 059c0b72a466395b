// Scoring a run's weights from the command line; `train` ends with it too.
#pragma once

#include "cli/common.h"
#include "eval/bpb.h"
#include "train/recipe.h"
#include "train/run_log.h"

namespace wt::cli {

// `eval core`, in core_command.cc.
void AddCoreCommand(CLI::App* eval);

eval::BpbOptions BpbOptionsOf(const train::Recipe& recipe);
Json BpbJson(const eval::BpbResult& result);
// "1.4321 (120034 nats, 121000 bytes, 32768 tokens; context 512, stream, 1 rank)"
std::string BpbText(const eval::BpbResult& result);
train::EvalRow BpbRow(const eval::BpbResult& result);

}  // namespace wt::cli
