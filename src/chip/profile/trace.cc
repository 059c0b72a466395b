// Field numbers are those of Perfetto's trace_packet.proto and track_event.proto.
#include "chip/profile/trace.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

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
  TraceWriter(const SourceTable* sources, const std::vector<TraceSlice>& slices, AtomicFile* file)
      : sources_(sources), slices_(slices), file_(file) {}

  Status WriteAll(const std::string& title, const MemoryUse& sbuf, const MemoryUse& psum) {
    WriteProcess(title);
    WriteInterned();
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
    const SourceLine& line = sources_->at(id);
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
        for (size_t id = 1; sources_ != nullptr && id < sources_->size(); ++id)
          WriteSourceLine(static_cast<SourceId>(id));
      });
    });
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
      out_.Varint(kNameId, uint64_t{slice.def} + 1);
      if (slice.source != 0) out_.Varint(kSourceLocationId, slice.source);
      WriteFlows(i);
      WriteAnnotations(i);
    });
    WriteEvent(slice.end_ns, track, kSliceEnd, [] {});
  }

  // The arrow to instruction i is flow i + 1.
  void WriteFlows(uint32_t i) {
    if (slices_[i].wait != Wait::kNone) out_.Fixed64(kFlowEnd, uint64_t{i} + 1);
    for (uint32_t consumer = slices_[i].first_waiting; consumer != TraceSlice::kNone;
         consumer = slices_[consumer].next_waiting) {
      out_.Fixed64(kFlow, uint64_t{consumer} + 1);
    }
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
    if (slice.wait != Wait::kNone)
      Annotate(kWaited, [&] { out_.Bytes(kAnnotationString, WaitName(slice.wait)); });
    if (slice.pe_slowdown > 1)
      Annotate(kLimiter, [&] { out_.Double(kAnnotationDouble, double{slice.pe_slowdown}); });
    if (slice.bytes >= 0)
      Annotate(kBytes, [&] { out_.Varint(kAnnotationInt, static_cast<uint64_t>(slice.bytes)); });
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
               [&] { out_.Varint(kCounterValue, static_cast<uint64_t>(value + 0.5)); });
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
    if (slice.bytes < 0 || slice.end_ns <= slice.start_ns) return;
    EndTransfers(slice.start_ns);
    const double rate =
        static_cast<double>(slice.bytes) / static_cast<double>(slice.end_ns - slice.start_ns);
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

  const SourceTable* sources_;  // may be null
  const std::vector<TraceSlice>& slices_;
  AtomicFile* file_;
  ProtoWriter out_;
  std::array<std::array<std::vector<Lane>, 256>, kNumEngines> lanes_;  // by engine and queue
  uint64_t num_lanes_ = 0;
  using Transfer = std::pair<uint64_t, double>;  // its end and bytes/ns
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers_;
  uint64_t rate_since_ns_ = 0;
  double bytes_per_ns_ = 0;
  bool rate_changed_ = false;
};

}  // namespace

void TraceRecorder::Add(size_t index, const Scheduled& scheduled) {
  const TimedInstr& instr = program_.instrs[index];
  TraceSlice& slice = slices_[index];
  slice.start_ns = Ns(scheduled.start_ns);
  slice.end_ns = Ns(std::max(scheduled.end_ns, scheduled.start_ns));
  if (instr.dma >= 0) slice.bytes = program_.dmas[static_cast<size_t>(instr.dma)].bytes;
  slice.pe_slowdown = static_cast<float>(scheduled.pe_slowdown);
  slice.source = instr.source;
  slice.def = instr.def;
  slice.engine = scheduled.engine;
  slice.queue = scheduled.queue;
  if (scheduled.wait == Wait::kNone || scheduled.waited_for >= slices_.size() ||
      scheduled.waited_for == index)
    return;
  slice.wait = scheduled.wait;
  slice.next_waiting =
      std::exchange(slices_[scheduled.waited_for].first_waiting, static_cast<uint32_t>(index));
}

Status TraceRecorder::Write(const std::string& path, const std::string& title,
                            const MemoryUse& sbuf, const MemoryUse& psum) const {
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  WT_RETURN_IF_ERROR(
      TraceWriter(program_.sources.get(), slices_, &file).WriteAll(title, sbuf, psum));
  return file.Commit();
}

}  // namespace wt::chip
