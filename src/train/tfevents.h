// TensorBoard event files: the scalars of a run in the format that people's browsers already read.
// A file is a sequence of records (length, masked CRC-32C, bytes, masked CRC-32C), each an `Event`
// message in protobuf's wire format; scalars need so few fields that they are encoded by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::train {

struct Scalar {
  std::string tag;  // "train/loss", "val/bpb", …
  double value = 0;
};

class TfEventWriter {
 public:
  // Makes a new file in `folder`, events.out.tfevents.TIME.windtunnel with TIME = wall_seconds
  // since 1970. `last_step` > 0 says that the run goes on from there: TensorBoard then forgets what
  // older files say of later steps.
  static Result<TfEventWriter> Create(const std::string& folder, double wall_seconds,
                                      int64_t last_step);
  TfEventWriter(TfEventWriter&& other) noexcept;
  TfEventWriter& operator=(TfEventWriter&&) = delete;
  ~TfEventWriter();

  // One event with all scalars, in one write().
  Status Add(double wall_seconds, int64_t step, const std::vector<Scalar>& scalars);
  const std::string& path() const { return path_; }

 private:
  TfEventWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status Write(std::string_view event);
  int fd_;
  std::string path_;
};

}  // namespace wt::train
