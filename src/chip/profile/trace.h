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

// What a trace shows of an instruction.
struct TraceSlice {
  uint64_t start_ns = 0, end_ns = 0;
  uint32_t waited_for = 0;  // instruction; meaningless without a wait
  float pe_slowdown = 1;
  Engine engine = Engine::kUnknown;
  uint8_t queue = 0;
  Wait wait = Wait::kNone;
};

class TraceRecorder {
 public:
  // `program` must outlive the recorder.
  explicit TraceRecorder(const Program& program) : program_(program), slices_(program.size()) {}

  // Once for each of the program's instructions.
  void Add(size_t index, const Scheduled& scheduled);
  // Writes the file, whole or not at all. `title` names the process: "matmul on trn2, core 0".
  Status Write(const std::string& path, const std::string& title, const MemoryUse& sbuf,
               const MemoryUse& psum) const;

 private:
  const Program& program_;
  std::vector<TraceSlice> slices_;  // by instruction
};

}  // namespace wt::chip
