// A schedule as a Perfetto trace (protobuf): one track per engine and DMA queue, counters for SBUF,
// PSUM and HBM bandwidth, arrows from producers to the instructions that waited for them, source
// lines. Open it at ui.perfetto.dev or with trace_processor.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "chip/profile/memory_use.h"
#include "chip/program.h"
#include "chip/schedule.h"

namespace wt::chip {

class TraceRecorder {
 public:
  // `program` must outlive the recorder.
  explicit TraceRecorder(const Program& program) : program_(program) {}

  void Add(size_t index, const Scheduled& scheduled);
  // Writes the file, whole or not at all. `title` names the process: "matmul on trn2, core 0".
  Status Write(const std::string& path, const std::string& title, const MemoryUse& sbuf,
               const MemoryUse& psum) const;

 private:
  const Program& program_;
  std::vector<Scheduled> scheduled_;  // by instruction index
};

}  // namespace wt::chip
