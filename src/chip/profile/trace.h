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
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint64_t start_ns = 0, end_ns = 0;
  int64_t bytes = -1;  // of a transfer
  float pe_slowdown = 1;
  SourceId source = 0;
  // The instructions that waited for this one, as a list: the first, and the one after this one
  // among those that waited for the same.
  uint32_t first_waiting = kNone, next_waiting = kNone;
  uint16_t def = 0;
  Engine engine = Engine::kUnknown;
  uint8_t queue = 0;
  Wait wait = Wait::kNone;  // for another instruction
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
