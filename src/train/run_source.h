// Where a recipe's data and a run's weights come from: names to files, folders to models. Commands
// open everything through here.
#pragma once

#include <memory>
#include <string>

#include "nn/gpt.h"
#include "nn/tensor_store.h"
#include "text/corpus_list.h"
#include "text/dataset.h"
#include "train/checkpoint.h"
#include "train/recipe.h"

namespace wt::train {

// The places of an installation. `home` holds data/corpora.toml; `cache` everything that can be
// made again.
struct Places {
  std::string home, cache;
};
// From $WINDTUNNEL_HOME (or the folder the program was built in) and $WINDTUNNEL_CACHE (or
// HOME/cache).
Places FindPlaces();

// data.corpus as a name of data/corpora.toml, or as a file, folder or glob; data.val likewise.
Result<text::CorpusSpec> ResolveCorpus(const DataConfig& config, const Places& places);
// What OpenDataset needs for a recipe.
Result<text::DatasetOptions> DatasetOptionsOf(const Recipe& recipe, const Places& places);

// A saved run with its weights in memory.
struct LoadedRun {
  Recipe recipe;
  nn::ModelFunction model;
  CheckpointState state;
  std::unique_ptr<nn::TensorStore> weights;
  std::string folder;
};

// A user's model file is copied into the run as RUN/model.cc; empty when the run uses the built-in
// family.
std::string ModelFileOf(const std::string& run_folder);

// Reads RUN/recipe.toml and the weights of its checkpoint; kMismatch, naming the tensor, when they
// do not belong together.
Result<LoadedRun> LoadRun(const std::string& run_folder, const Places& places);

}  // namespace wt::train
