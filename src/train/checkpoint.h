// Checkpoints: everything a run needs to go on as if nothing had happened. RUN/checkpoint is a link
// to a folder RUN/checkpoint-STEP that holds model.safetensors (weights alone, for everybody),
// optimizer.safetensors and state.json (docs/formats/checkpoint.md). The folder is complete and on
// the disk before the link turns to it, so a kill at any moment leaves a whole checkpoint, old or
// new.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "train/safetensors.h"

namespace wt::train {

struct NamedTensor {
  TensorInfo info;
  const void* data = nullptr;  // info.bytes() bytes, contiguous
};

struct CheckpointState {
  int64_t step = 0;                            // optimiser steps done
  int64_t tokens = 0;                          // tokens trained on
  double charged = 0;                          // seconds, when the save began
  std::string loader;                          // the loader's own text
  std::map<std::string, uint64_t> generators;  // positions of the random streams, by name
  std::string recipe_hash, tokenizer_hash, program_hash;
  std::string program_version;
};

struct CheckpointContents {
  CheckpointState state;
  std::vector<NamedTensor> model, optimizer;
};

struct CheckpointOptions {
  int keep = 1;  // complete checkpoints left in the run folder, the new one included
  // Called before each thing that touches the disk, with its name; an error stops the save there.
  // Tests use it to fill the disk or to kill the process.
  std::function<Status(std::string_view)> before;
};

// Bytes that SaveCheckpoint will write, nearly.
int64_t CheckpointBytes(const CheckpointContents& contents);

// On failure nothing saved before is lost and the unfinished folder is removed.
Status SaveCheckpoint(const std::string& run_folder, const CheckpointContents& contents,
                      const CheckpointOptions& options = {});

// A checkpoint mapped from disk.
class Checkpoint {
 public:
  // `path`: a run folder, or a checkpoint folder itself. Where the link is missing, the newest
  // complete folder serves. Fails with kNotFound when there is none and with kCorrupt when a file
  // is not what state.json says (size and CRC-32C).
  static Result<Checkpoint> Load(const std::string& path);

  const std::string& folder() const { return folder_; }
  const CheckpointState& state() const { return state_; }
  const SafetensorsFile& model() const { return model_; }
  const SafetensorsFile& optimizer() const { return optimizer_; }

  // Copies a tensor of `file` to `out`. Fails with kMismatch, naming tensor, given, expected and
  // the way out, when it is absent or of another shape or dtype.
  static Status Copy(const SafetensorsFile& file, const TensorInfo& expected, void* out);
  // Whether `file` holds exactly the tensors `expected`.
  static Status CheckTensors(const SafetensorsFile& file, const std::vector<TensorInfo>& expected);

 private:
  Checkpoint(std::string folder, CheckpointState state, SafetensorsFile model,
             SafetensorsFile optimizer)
      : folder_(std::move(folder)),
        state_(std::move(state)),
        model_(std::move(model)),
        optimizer_(std::move(optimizer)) {}
  std::string folder_;
  CheckpointState state_;
  SafetensorsFile model_, optimizer_;
};

bool HasCheckpoint(const std::string& run_folder);

}  // namespace wt::train
