// Field numbers are those of Perfetto's trace_packet.proto and track_event.proto.
#include "chip/profile/trace.h"

#include <algorithm>
#include <cmath>
#include <map>

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
  double free_ns = 0;
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
      if (out_.size() >= kFlushBytes) WT_RETURN_IF_ERROR(Flush());
    }
    for (const MemoryPoint& point : sbuf.timeline) {
      WriteCounter(kSbufTrack, point.ns, static_cast<double>(point.bytes));
    }
    for (const MemoryPoint& point : psum.timeline) {
      WriteCounter(kPsumTrack, point.ns, static_cast<double>(point.bytes));
    }
    WriteBandwidth();
    return Flush();
  }

 private:
  void Packet(const ProtoWriter& packet) { out_.Message(kPacket, packet); }

  Status Flush() {
    WT_RETURN_IF_ERROR(file_->Append(out_.bytes()));
    out_.Clear();
    return {};
  }

  void WriteDescriptor(const ProtoWriter& descriptor) {
    ProtoWriter packet;
    packet.Message(kTrackDescriptor, descriptor);
    packet.Varint(kSequence, kSequenceId);
    Packet(packet);
  }

  void WriteProcess(const std::string& title) {
    ProtoWriter process, descriptor;
    process.Varint(kPid, kProcessId);
    process.Bytes(kProcessName, title);
    descriptor.Varint(kUuid, kProcessTrack);
    descriptor.Message(kProcess, process);
    WriteDescriptor(descriptor);
    WriteCounterTrack(kSbufTrack, "SBUF in use", "bytes");
    WriteCounterTrack(kPsumTrack, "PSUM in use", "bytes");
    WriteCounterTrack(kHbmTrack, "DMA bandwidth", "bytes/ns");
  }

  void WriteCounterTrack(uint64_t track, const char* name, const char* unit) {
    ProtoWriter counter, descriptor;
    counter.Bytes(kUnitName, unit);
    descriptor.Varint(kUuid, track);
    descriptor.Varint(kParent, kProcessTrack);
    descriptor.Bytes(kTrackName, name);
    descriptor.Message(kCounter, counter);
    WriteDescriptor(descriptor);
  }

  void WriteLaneTrack(const Lane& lane, const std::string& name) {
    ProtoWriter thread, descriptor;
    thread.Varint(kPid, kProcessId);
    thread.Varint(kTid, lane.track);
    thread.Bytes(kThreadName, name);
    descriptor.Varint(kUuid, lane.track);
    descriptor.Varint(kParent, kProcessTrack);
    descriptor.Message(kThread, thread);
    WriteDescriptor(descriptor);
  }

  // Names are written once; events refer to them by number. Instruction i is name i + 1.
  void WriteInterned() {
    ProtoWriter interned;
    const auto name = [&](int field, uint64_t id, std::string_view text) {
      ProtoWriter entry;
      entry.Varint(1, id);
      entry.Bytes(2, text);
      interned.Message(field, entry);
    };
    for (size_t i = 0; i < AllInstrs().size(); ++i) name(kEventNames, i + 1, AllInstrs()[i]->name);
    name(kAnnotationNames, kWaited, "waited");
    name(kAnnotationNames, kWaitedFor, "waited for instruction");
    name(kAnnotationNames, kLimiter, "power limit");
    name(kAnnotationNames, kBytes, "bytes");
    for (size_t id = 1; program_.sources && id < program_.sources->size(); ++id) {
      const SourceLine& line = program_.sources->at(static_cast<SourceId>(id));
      ProtoWriter entry;
      entry.Varint(1, id);
      entry.Bytes(2, line.file);
      entry.Bytes(3, line.function);
      entry.Varint(4, static_cast<uint64_t>(line.line));
      interned.Message(kSourceLocations, entry);
    }
    ProtoWriter packet;
    packet.Varint(kSequence, kSequenceId);
    packet.Varint(kSequenceFlags, 1);  // the names of this sequence start here
    packet.Message(kInterned, interned);
    Packet(packet);
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
    std::vector<uint32_t> order(scheduled_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return scheduled_[a].start_ns < scheduled_[b].start_ns;
    });
    return order;
  }

  std::string LaneName(const Scheduled& scheduled, size_t lane) const {
    std::string name = EngineName(scheduled.engine);
    if (scheduled.engine == Engine::kDma) name += fmt::format(" queue {}", scheduled.queue);
    return lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
  }

  uint64_t TrackFor(const Scheduled& scheduled) {
    std::vector<Lane>& lanes = lanes_[{scheduled.engine, scheduled.queue}];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& candidate) {
      return Ns(candidate.free_ns) <= Ns(scheduled.start_ns);
    });
    if (lane == lanes.end()) {
      lane = lanes.insert(lanes.end(), {kFirstLaneTrack + num_lanes_++});
      WriteLaneTrack(*lane, LaneName(scheduled, lanes.size() - 1));
    }
    lane->free_ns = std::max(scheduled.end_ns, scheduled.start_ns);
    return lane->track;
  }

  template <class Fill>
  static void Annotate(ProtoWriter* event, AnnotationName name, Fill fill) {
    ProtoWriter annotation;
    annotation.Varint(kAnnotationNameId, name);
    fill(&annotation);
    event->Message(kAnnotation, annotation);
  }

  void WriteSlice(uint32_t i) {
    const Scheduled& scheduled = scheduled_[i];
    const TimedInstr& instr = program_.instrs[i];
    const uint64_t track = TrackFor(scheduled);
    ProtoWriter event;
    event.Varint(kType, kSliceBegin);
    event.Varint(kEventTrack, track);
    event.Varint(kNameId, uint64_t{instr.def} + 1);
    if (instr.source != 0) event.Varint(kSourceLocationId, instr.source);
    if (Waited(i)) {
      event.Fixed64(kFlowEnd, uint64_t{i} + 1);
      Annotate(&event, kWaited,
               [&](ProtoWriter* a) { a->Bytes(kAnnotationString, WaitName(scheduled.wait)); });
      Annotate(&event, kWaitedFor,
               [&](ProtoWriter* a) { a->Varint(kAnnotationInt, scheduled.waited_for); });
    }
    for (uint32_t f = first_[i]; f < first_[i + 1]; ++f)
      event.Fixed64(kFlow, uint64_t{consumers_[f]} + 1);
    if (scheduled.pe_slowdown > 1) {
      Annotate(&event, kLimiter,
               [&](ProtoWriter* a) { a->Double(kAnnotationDouble, scheduled.pe_slowdown); });
    }
    if (instr.dma >= 0) {
      const auto bytes = static_cast<uint64_t>(program_.dmas[static_cast<size_t>(instr.dma)].bytes);
      Annotate(&event, kBytes, [&](ProtoWriter* a) { a->Varint(kAnnotationInt, bytes); });
    }
    WriteEvent(scheduled.start_ns, event);
    ProtoWriter end;
    end.Varint(kType, kSliceEnd);
    end.Varint(kEventTrack, track);
    WriteEvent(std::max(scheduled.end_ns, scheduled.start_ns), end);
  }

  void WriteEvent(double ns, const ProtoWriter& event) {
    ProtoWriter packet;
    packet.Varint(kTimestamp, Ns(ns));
    packet.Varint(kSequence, kSequenceId);
    packet.Varint(kSequenceFlags, 2);  // needs the names above
    packet.Message(kTrackEvent, event);
    Packet(packet);
  }

  void WriteCounter(uint64_t track, double ns, double value) {
    ProtoWriter event;
    event.Varint(kType, kCounterType);
    event.Varint(kEventTrack, track);
    event.Varint(kCounterValue, static_cast<uint64_t>(std::llround(value)));
    WriteEvent(ns, event);
  }

  // Each transfer spreads its bytes evenly between its first and last byte.
  void WriteBandwidth() {
    std::map<uint64_t, double> change;  // bytes/ns from this moment on
    for (uint32_t i = 0; i < scheduled_.size(); ++i) {
      const TimedInstr& instr = program_.instrs[i];
      const double span = scheduled_[i].end_ns - scheduled_[i].start_ns;
      if (instr.dma < 0 || span <= 0) continue;
      const double rate =
          static_cast<double>(program_.dmas[static_cast<size_t>(instr.dma)].bytes) / span;
      change[Ns(scheduled_[i].start_ns)] += rate;
      change[Ns(scheduled_[i].end_ns)] -= rate;
    }
    double rate = 0;
    for (const auto& [ns, difference] : change) {
      rate += difference;
      WriteCounter(kHbmTrack, static_cast<double>(ns), std::max(0.0, rate));
    }
  }

  const Program& program_;
  const std::vector<Scheduled>& scheduled_;
  AtomicFile* file_;
  ProtoWriter out_;
  std::map<std::pair<Engine, uint8_t>, std::vector<Lane>> lanes_;
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
