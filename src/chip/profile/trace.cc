// Field numbers are those of Perfetto's trace_packet.proto and track_event.proto.
#include "chip/profile/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>

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

enum AnnotationName { kWaited = 1, kLimiter, kBytes };

uint64_t Ns(double ns) { return static_cast<uint64_t>(ns + 0.5); }

// (start, index) of slices in the order of their starts. By digits: comparing takes twice as long.
using SliceStart = std::pair<uint64_t, uint32_t>;
std::vector<SliceStart> ByStart(const std::vector<TraceSlice>& slices) {
  constexpr int kDigitBits = 11;
  constexpr uint64_t kDigits = 1 << kDigitBits;
  std::vector<SliceStart> entries(slices.size()), sorted(slices.size());
  uint64_t last_ns = 0;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    entries[i] = {slices[i].start_ns, i};
    last_ns = std::max(last_ns, slices[i].start_ns);
  }
  for (int shift = 0; shift < 64 && last_ns >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](const SliceStart& entry) {
      return entry.first >> shift & (kDigits - 1);
    };
    std::array<size_t, kDigits + 1> begin{};
    for (const SliceStart& entry : entries) ++begin[digit(entry) + 1];
    for (size_t d = 1; d < kDigits; ++d) begin[d] += begin[d - 1];
    for (const SliceStart& entry : entries) sorted[begin[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
  return entries;
}

// Slices of one track must nest, and transfers of one queue overlap: each goes to the first of the
// queue's lanes that is free.
struct Lane {
  uint64_t track;
  uint64_t free_ns = 0;
};

class TraceWriter {
 public:
  TraceWriter(const Program& program, const std::vector<TraceSlice>& slices, AtomicFile* file)
      : program_(program), slices_(slices), file_(file) {}

  Status WriteAll(const std::string& title, const MemoryUse& sbuf, const MemoryUse& psum) {
    WriteProcess(title);
    WriteInterned();
    IndexFlows();
    for (const auto& [start_ns, i] : ByStart(slices_)) {
      WriteSlice(i);
      FollowTransfer(i);
      WT_RETURN_IF_ERROR(FlushWhenFull());
    }
    EndTransfers(~uint64_t{0});
    WT_RETURN_IF_ERROR(WriteMemory(kSbufTrack, sbuf));
    WT_RETURN_IF_ERROR(WriteMemory(kPsumTrack, psum));
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
        WriteName(kAnnotationNames, kLimiter, "power limit");
        WriteName(kAnnotationNames, kBytes, "bytes");
        for (size_t id = 1; program_.sources && id < program_.sources->size(); ++id)
          WriteSourceLine(static_cast<SourceId>(id));
      });
    });
  }

  bool Waited(uint32_t i) const {
    const TraceSlice& slice = slices_[i];
    return slice.wait != Wait::kNone && slice.waited_for < slices_.size() && slice.waited_for != i;
  }

  // consumers_[first_[i] … first_[i + 1]) wait for instruction i.
  void IndexFlows() {
    first_.assign(slices_.size() + 2, 0);
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      if (Waited(i)) ++first_[slices_[i].waited_for + 2];
    }
    for (size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    consumers_.resize(first_.back());
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      if (Waited(i)) consumers_[first_[slices_[i].waited_for + 1]++] = i;
    }
  }

  static std::string LaneName(const TraceSlice& slice, size_t lane) {
    std::string name = EngineName(slice.engine);
    if (slice.engine == Engine::kDma) name += fmt::format(" queue {}", slice.queue);
    return lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
  }

  // The track of a lane that has nothing else while the slice lasts.
  uint64_t TrackFor(const TraceSlice& slice) {
    std::vector<Lane>& lanes = lanes_[static_cast<size_t>(slice.engine)][slice.queue];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& candidate) {
      return candidate.free_ns <= slice.start_ns;
    });
    if (lane == lanes.end()) {
      lane = lanes.insert(lanes.end(), {kFirstLaneTrack + num_lanes_++});
      WriteLaneTrack(*lane, LaneName(slice, lanes.size() - 1));
    }
    lane->free_ns = slice.end_ns;
    return lane->track;
  }

  void WriteSlice(uint32_t i) {
    const TraceSlice& slice = slices_[i];
    const uint64_t track = TrackFor(slice);
    WriteEvent(slice.start_ns, track, kSliceBegin, [&] {
      const TimedInstr& instr = program_.instrs[i];
      out_.Varint(kNameId, uint64_t{instr.def} + 1);
      if (instr.source != 0) out_.Varint(kSourceLocationId, instr.source);
      WriteFlows(i);
      WriteAnnotations(i);
    });
    WriteEvent(slice.end_ns, track, kSliceEnd, [] {});
  }

  // Consumer i is the end of flow i + 1.
  void WriteFlows(uint32_t i) {
    if (Waited(i)) out_.Fixed64(kFlowEnd, uint64_t{i} + 1);
    for (uint32_t f = first_[i]; f < first_[i + 1]; ++f)
      out_.Fixed64(kFlow, uint64_t{consumers_[f]} + 1);
  }

  template <class Fill>
  void Annotate(AnnotationName name, const Fill& fill) {
    Message(kAnnotation, [&] {
      out_.Varint(kAnnotationNameId, name);
      fill();
    });
  }

  void WriteAnnotations(uint32_t i) {
    const TraceSlice& slice = slices_[i];
    if (Waited(i)) Annotate(kWaited, [&] { out_.Bytes(kAnnotationString, WaitName(slice.wait)); });
    if (slice.pe_slowdown > 1)
      Annotate(kLimiter, [&] { out_.Double(kAnnotationDouble, double{slice.pe_slowdown}); });
    if (program_.instrs[i].dma >= 0)
      Annotate(kBytes, [&] { out_.Varint(kAnnotationInt, TransferBytes(i)); });
  }

  uint64_t TransferBytes(uint32_t i) const {
    return static_cast<uint64_t>(program_.dmas[static_cast<size_t>(program_.instrs[i].dma)].bytes);
  }

  template <class Fill>
  void WriteEvent(uint64_t ns, uint64_t track, int type, const Fill& fill) {
    Message(kPacket, [&] {
      out_.Varint(kTimestamp, ns);
      out_.Varint(kSequence, kSequenceId);
      if (type == kSliceBegin) out_.Varint(kSequenceFlags, 2);  // needs the names above
      Message(kTrackEvent, [&] {
        out_.Varint(kType, static_cast<uint64_t>(type));
        out_.Varint(kEventTrack, track);
        fill();
      });
    });
  }

  void WriteCounter(uint64_t track, uint64_t ns, double value) {
    WriteEvent(ns, track, kCounterType,
               [&] { out_.Varint(kCounterValue, static_cast<uint64_t>(std::llround(value))); });
  }

  Status WriteMemory(uint64_t track, const MemoryUse& use) {
    for (const MemoryPoint& point : use.timeline) {
      WriteCounter(track, Ns(point.ns), static_cast<double>(point.bytes));
      WT_RETURN_IF_ERROR(FlushWhenFull());
    }
    return {};
  }

  // The bandwidth counter. Slices come by their starts; each transfer spreads its bytes evenly.
  void FollowTransfer(uint32_t i) {
    const TraceSlice& slice = slices_[i];
    if (program_.instrs[i].dma < 0 || slice.end_ns <= slice.start_ns) return;
    EndTransfers(slice.start_ns);
    const double rate =
        static_cast<double>(TransferBytes(i)) / static_cast<double>(slice.end_ns - slice.start_ns);
    ChangeRate(slice.start_ns, rate);
    transfers_.emplace(slice.end_ns, rate);
  }

  void EndTransfers(uint64_t until_ns) {
    while (!transfers_.empty() && transfers_.top().first <= until_ns) {
      const auto [ns, rate] = transfers_.top();
      transfers_.pop();
      ChangeRate(ns, transfers_.empty() ? -bytes_per_ns_ : -rate);
    }
    if (transfers_.empty()) ChangeRate(until_ns, 0);
  }

  // One event for all changes of a moment, once the next moment has come.
  void ChangeRate(uint64_t ns, double difference) {
    if (ns != rate_since_ns_) {
      if (rate_changed_) WriteCounter(kHbmTrack, rate_since_ns_, std::max(0.0, bytes_per_ns_));
      rate_since_ns_ = ns;
      rate_changed_ = false;
    }
    bytes_per_ns_ += difference;
    rate_changed_ |= difference != 0;
  }

  const Program& program_;
  const std::vector<TraceSlice>& slices_;
  AtomicFile* file_;
  ProtoWriter out_;
  std::array<std::array<std::vector<Lane>, 256>, kNumEngines> lanes_;  // by engine and queue
  uint64_t num_lanes_ = 0;
  std::vector<uint32_t> first_, consumers_;
  using Transfer = std::pair<uint64_t, double>;  // its end and bytes/ns
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers_;
  uint64_t rate_since_ns_ = 0;
  double bytes_per_ns_ = 0;
  bool rate_changed_ = false;
};

}  // namespace

void TraceRecorder::Add(size_t index, const Scheduled& scheduled) {
  slices_[index] = {.start_ns = Ns(scheduled.start_ns),
                    .end_ns = Ns(std::max(scheduled.end_ns, scheduled.start_ns)),
                    .waited_for = static_cast<uint32_t>(scheduled.waited_for),
                    .pe_slowdown = static_cast<float>(scheduled.pe_slowdown),
                    .engine = scheduled.engine,
                    .queue = scheduled.queue,
                    .wait = scheduled.wait};
}

Status TraceRecorder::Write(const std::string& path, const std::string& title,
                            const MemoryUse& sbuf, const MemoryUse& psum) const {
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  WT_RETURN_IF_ERROR(TraceWriter(program_, slices_, &file).WriteAll(title, sbuf, psum));
  return file.Commit();
}

}  // namespace wt::chip
