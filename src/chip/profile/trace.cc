// Field numbers are those of Perfetto's trace_packet.proto and track_event.proto.
#include "chip/profile/trace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/files.h"
#include "chip/isa.h"
#include "chip/profile/proto_writer.h"

namespace wt::chip {
namespace {

// TracePacket
constexpr int kPacket = 1, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
              kSequenceFlags = 13, kTrackDescriptor = 60;
// TrackDescriptor, its process, thread and counter
constexpr int kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr int kPid = 1, kProcessName = 6, kTid = 2, kThreadName = 5, kUnitName = 6;
// TrackEvent
constexpr int kAnnotation = 4, kType = 9, kNameId = 10, kEventTrack = 11, kCounterValue = 30,
              kSourceLocationId = 34, kFlow = 47, kFlowEnd = 48;
constexpr int kSliceBegin = 1, kSliceEnd = 2, kCounterType = 4;
// InternedData
constexpr int kEventNames = 2, kAnnotationNames = 3, kSourceLocations = 4;
// DebugAnnotation
constexpr int kAnnotationNameId = 1, kAnnotationInt = 4, kAnnotationDouble = 5,
              kAnnotationString = 6;

constexpr uint64_t kProcessTrack = 1;
constexpr uint64_t kSbufTrack = 2, kPsumTrack = 3, kHbmTrack = 4;
constexpr uint64_t kFirstLaneTrack = 16;
constexpr int kProcessId = 1;
constexpr uint64_t kSequenceId = 1;
constexpr size_t kFlushBytes = 1 << 20;

enum AnnotationName { kWaited = 1, kWaitedFor, kLimiter, kBytes };

uint64_t Ns(double ns) { return static_cast<uint64_t>(std::llround(ns)); }

// Slices of one track must nest, and transfers of one queue overlap: each goes to the first of the
// queue's lanes that is free.
struct Lane {
  uint64_t track;
  uint64_t free_ns = 0;
};

class TraceWriter {
 public:
  TraceWriter(const Program& program, const std::vector<Scheduled>& scheduled, AtomicFile* file)
      : program_(program), scheduled_(scheduled), file_(file) {}

  Status WriteAll(const std::string& title, const MemoryUse& sbuf, const MemoryUse& psum) {
    WriteProcess(title);
    WriteInterned();
    IndexFlows();
    for (uint32_t i : ByStart()) {
      WriteSlice(i);
      WT_RETURN_IF_ERROR(FlushWhenFull());
    }
    WT_RETURN_IF_ERROR(WriteMemory(kSbufTrack, sbuf));
    WT_RETURN_IF_ERROR(WriteMemory(kPsumTrack, psum));
    WT_RETURN_IF_ERROR(WriteBandwidth());
    return Flush();
  }

 private:
  Status Flush() {
    WT_RETURN_IF_ERROR(file_->Append(out_.bytes()));
    out_.Clear();
    return {};
  }
  Status FlushWhenFull() { return out_.size() < kFlushBytes ? Status() : Flush(); }

  // `fill` writes the fields of a nested message.
  template <class Fill>
  void Message(int field, const Fill& fill) {
    const size_t message = out_.Open(field);
    fill();
    out_.Close(message);
  }

  template <class Fill>
  void WriteDescriptor(uint64_t track, const Fill& fill) {
    Message(kPacket, [&] {
      out_.Varint(kSequence, kSequenceId);
      Message(kTrackDescriptor, [&] {
        out_.Varint(kUuid, track);
        if (track != kProcessTrack) out_.Varint(kParent, kProcessTrack);
        fill();
      });
    });
  }

  void WriteProcess(const std::string& title) {
    WriteDescriptor(kProcessTrack, [&] {
      Message(kProcess, [&] {
        out_.Varint(kPid, kProcessId);
        out_.Bytes(kProcessName, title);
      });
    });
    WriteCounterTrack(kSbufTrack, "SBUF in use", "bytes");
    WriteCounterTrack(kPsumTrack, "PSUM in use", "bytes");
    WriteCounterTrack(kHbmTrack, "DMA bandwidth", "bytes/ns");
  }

  void WriteCounterTrack(uint64_t track, const char* name, const char* unit) {
    WriteDescriptor(track, [&] {
      out_.Bytes(kTrackName, name);
      Message(kCounter, [&] { out_.Bytes(kUnitName, unit); });
    });
  }

  void WriteLaneTrack(const Lane& lane, const std::string& name) {
    WriteDescriptor(lane.track, [&] {
      Message(kThread, [&] {
        out_.Varint(kPid, kProcessId);
        out_.Varint(kTid, lane.track);
        out_.Bytes(kThreadName, name);
      });
    });
  }

  void WriteName(int field, uint64_t id, std::string_view text) {
    Message(field, [&] {
      out_.Varint(1, id);
      out_.Bytes(2, text);
    });
  }

  void WriteSourceLine(SourceId id) {
    const SourceLine& line = program_.sources->at(id);
    Message(kSourceLocations, [&] {
      out_.Varint(1, id);
      out_.Bytes(2, line.file);
      out_.Bytes(3, line.function);
      out_.Varint(4, static_cast<uint64_t>(line.line));
    });
  }

  // Names are written once; events refer to them by number. Instruction i is name i + 1.
  void WriteInterned() {
    Message(kPacket, [&] {
      out_.Varint(kSequence, kSequenceId);
      out_.Varint(kSequenceFlags, 1);  // the names of this sequence start here
      Message(kInterned, [&] {
        for (size_t i = 0; i < AllInstrs().size(); ++i)
          WriteName(kEventNames, i + 1, AllInstrs()[i]->name);
        WriteName(kAnnotationNames, kWaited, "waited");
        WriteName(kAnnotationNames, kWaitedFor, "waited for instruction");
        WriteName(kAnnotationNames, kLimiter, "power limit");
        WriteName(kAnnotationNames, kBytes, "bytes");
        for (size_t id = 1; program_.sources && id < program_.sources->size(); ++id)
          WriteSourceLine(static_cast<SourceId>(id));
      });
    });
  }

  bool Waited(uint32_t i) const {
    return scheduled_[i].wait != Wait::kNone && scheduled_[i].waited_for < scheduled_.size() &&
           scheduled_[i].waited_for != i;
  }

  // consumers_[first_[i] … first_[i + 1]) wait for instruction i.
  void IndexFlows() {
    first_.assign(scheduled_.size() + 2, 0);
    for (uint32_t i = 0; i < scheduled_.size(); ++i) {
      if (Waited(i)) ++first_[scheduled_[i].waited_for + 2];
    }
    for (size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    consumers_.resize(first_.back());
    for (uint32_t i = 0; i < scheduled_.size(); ++i) {
      if (Waited(i)) consumers_[first_[scheduled_[i].waited_for + 1]++] = i;
    }
  }

  std::vector<uint32_t> ByStart() const {
    std::vector<std::pair<double, uint32_t>> starts(scheduled_.size());
    for (uint32_t i = 0; i < starts.size(); ++i) starts[i] = {scheduled_[i].start_ns, i};
    std::sort(starts.begin(), starts.end());
    std::vector<uint32_t> order(starts.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = starts[i].second;
    return order;
  }

  static std::string LaneName(const Scheduled& scheduled, size_t lane) {
    std::string name = EngineName(scheduled.engine);
    if (scheduled.engine == Engine::kDma) name += fmt::format(" queue {}", scheduled.queue);
    return lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
  }

  // The lane that has the engine or queue to itself from start_ns to end_ns.
  const Lane& LaneFor(const Scheduled& scheduled, uint64_t start_ns, uint64_t end_ns) {
    std::vector<Lane>& lanes = lanes_[static_cast<size_t>(scheduled.engine)][scheduled.queue];
    auto lane = std::find_if(lanes.begin(), lanes.end(),
                             [&](const Lane& candidate) { return candidate.free_ns <= start_ns; });
    if (lane == lanes.end()) {
      lane = lanes.insert(lanes.end(), {kFirstLaneTrack + num_lanes_++});
      WriteLaneTrack(*lane, LaneName(scheduled, lanes.size() - 1));
    }
    lane->free_ns = end_ns;
    return *lane;
  }

  template <class Fill>
  void Annotate(AnnotationName name, const Fill& fill) {
    Message(kAnnotation, [&] {
      out_.Varint(kAnnotationNameId, name);
      fill();
    });
  }

  void WriteSlice(uint32_t i) {
    const Scheduled& scheduled = scheduled_[i];
    const uint64_t start_ns = Ns(scheduled.start_ns),
                   end_ns = Ns(std::max(scheduled.end_ns, scheduled.start_ns));
    const uint64_t track = LaneFor(scheduled, start_ns, end_ns).track;
    WriteEvent(start_ns, track, kSliceBegin, [&] {
      const TimedInstr& instr = program_.instrs[i];
      out_.Varint(kNameId, uint64_t{instr.def} + 1);
      if (instr.source != 0) out_.Varint(kSourceLocationId, instr.source);
      WriteFlows(i);
      WriteAnnotations(i);
    });
    WriteEvent(end_ns, track, kSliceEnd, [] {});
  }

  // Consumer i is the end of flow i + 1.
  void WriteFlows(uint32_t i) {
    if (Waited(i)) out_.Fixed64(kFlowEnd, uint64_t{i} + 1);
    for (uint32_t f = first_[i]; f < first_[i + 1]; ++f)
      out_.Fixed64(kFlow, uint64_t{consumers_[f]} + 1);
  }

  void WriteAnnotations(uint32_t i) {
    const Scheduled& scheduled = scheduled_[i];
    if (Waited(i)) {
      Annotate(kWaited, [&] { out_.Bytes(kAnnotationString, WaitName(scheduled.wait)); });
      Annotate(kWaitedFor, [&] { out_.Varint(kAnnotationInt, scheduled.waited_for); });
    }
    if (scheduled.pe_slowdown > 1)
      Annotate(kLimiter, [&] { out_.Double(kAnnotationDouble, scheduled.pe_slowdown); });
    if (const int32_t dma = program_.instrs[i].dma; dma >= 0) {
      const auto bytes = static_cast<uint64_t>(program_.dmas[static_cast<size_t>(dma)].bytes);
      Annotate(kBytes, [&] { out_.Varint(kAnnotationInt, bytes); });
    }
  }

  template <class Fill>
  void WriteEvent(uint64_t ns, uint64_t track, int type, const Fill& fill) {
    Message(kPacket, [&] {
      out_.Varint(kTimestamp, ns);
      out_.Varint(kSequence, kSequenceId);
      out_.Varint(kSequenceFlags, 2);  // needs the names above
      Message(kTrackEvent, [&] {
        out_.Varint(kType, static_cast<uint64_t>(type));
        out_.Varint(kEventTrack, track);
        fill();
      });
    });
  }

  void WriteCounter(uint64_t track, uint64_t ns, double value) {
    WriteEvent(ns, track, kCounterType, [&] {
      out_.Varint(kCounterValue, static_cast<uint64_t>(std::llround(value)));
    });
  }

  Status WriteMemory(uint64_t track, const MemoryUse& use) {
    for (const MemoryPoint& point : use.timeline) {
      WriteCounter(track, Ns(point.ns), static_cast<double>(point.bytes));
      WT_RETURN_IF_ERROR(FlushWhenFull());
    }
    return {};
  }

  // Each transfer spreads its bytes evenly between its first and last byte.
  Status WriteBandwidth() {
    std::vector<std::pair<uint64_t, double>> changes;  // bytes/ns from this moment on
    for (uint32_t i = 0; i < scheduled_.size(); ++i) {
      const TimedInstr& instr = program_.instrs[i];
      const double span = scheduled_[i].end_ns - scheduled_[i].start_ns;
      if (instr.dma < 0 || span <= 0) continue;
      const double rate =
          static_cast<double>(program_.dmas[static_cast<size_t>(instr.dma)].bytes) / span;
      changes.emplace_back(Ns(scheduled_[i].start_ns), rate);
      changes.emplace_back(Ns(scheduled_[i].end_ns), -rate);
    }
    std::sort(changes.begin(), changes.end());
    double rate = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      rate += changes[i].second;
      if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
      WriteCounter(kHbmTrack, changes[i].first, std::max(0.0, rate));
      WT_RETURN_IF_ERROR(FlushWhenFull());
    }
    return {};
  }

  const Program& program_;
  const std::vector<Scheduled>& scheduled_;
  AtomicFile* file_;
  ProtoWriter out_;
  std::array<std::array<std::vector<Lane>, 256>, kNumEngines> lanes_;  // by engine and queue
  uint64_t num_lanes_ = 0;
  std::vector<uint32_t> first_, consumers_;
};

}  // namespace

void TraceRecorder::Add(size_t index, const Scheduled& scheduled) {
  if (scheduled_.size() <= index) scheduled_.resize(index + 1);
  scheduled_[index] = scheduled;
}

Status TraceRecorder::Write(const std::string& path, const std::string& title,
                            const MemoryUse& sbuf, const MemoryUse& psum) const {
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  WT_RETURN_IF_ERROR(TraceWriter(program_, scheduled_, &file).WriteAll(title, sbuf, psum));
  return file.Commit();
}

}  // namespace wt::chip
