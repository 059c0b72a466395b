// Training a run and scoring it, for the commands that do so: train and rehearse.
#pragma once

#include "cli/common.h"
#include "train/trainer.h"

namespace wt::cli {

struct TrainingOptions {
  double start = 0;                          // of the process, on SystemTime().monotonic's scale
  bool resume = false;                       // go on from the folder's checkpoint
  bool score = true;                         // at the end
  const char* command = "train";             // that goes on with a stopped run
  std::shared_ptr<train::PriceList> prices;  // of a clock other than the host's
};

// The data, and the model function, of a run.
struct RunParts {
  text::Dataset data;
  nn::ModelFunction model;
  double data_seconds = 0;  // making tokenizer and token files is preparation, not start-up
};
RunParts OpenRunParts(const train::Recipe& recipe, const std::string& run);

// Trains and scores, keeps result.json and gives what is in it. Leaves with exit code 130, and a
// word on how to go on, when the user stops it.
Json TrainAndScore(const train::Recipe& recipe, train::RunFolder folder, const RunParts& parts,
                   const TrainingOptions& options);

// A run folder's name, after the recipe's file and the time.
std::string NewRunFolder(const std::string& recipe);

}  // namespace wt::cli
