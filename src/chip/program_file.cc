#include "chip/program_file.h"

#include <cstring>
#include <type_traits>

#include "base/crc32c.h"
#include "base/files.h"

namespace wt::chip {

namespace {

// A file: magic, version, the program as Fields goes through it, CRC-32C of all before.
constexpr std::string_view kMagic = "WTPROGRM";
constexpr uint32_t kVersion = 1;

class FieldWriter {
 public:
  template <class T>
  void Value(T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Text(std::string& text) {
    uint64_t size = text.size();
    Value(size);
    bytes_ += text;
  }
  template <class T, class Each>
  void Array(std::vector<T>& array, const Each& each) {
    uint64_t size = array.size();
    Value(size);
    for (T& element : array) each(element);
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void Value(T& value) {
    if (bytes_.size() < sizeof(T)) {
      failed_ = true;
      bytes_ = {};
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
  }
  // A byte that is neither 0 nor 1 is no bool.
  void Value(bool& value) {
    uint8_t byte = 0;
    Value(byte);
    if (byte > 1) failed_ = true;
    value = byte == 1;
  }
  void Text(std::string& text) {
    uint64_t size = 0;
    Value(size);
    if (size > bytes_.size()) {
      failed_ = true;
      return;
    }
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class T, class Each>
  void Array(std::vector<T>& array, const Each& each) {
    uint64_t size = 0;
    Value(size);
    // An element takes a byte at least: a false size cannot ask for more memory than the file's.
    if (size > bytes_.size()) failed_ = true;
    for (uint64_t i = 0; i < size && !failed_; ++i) each(array.emplace_back());
  }
  bool failed() const { return failed_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

template <class File>
void Fields(File& file, TimedInstr& instr) {
  file.Value(instr.def);
  file.Value(instr.engine);
  file.Value(instr.engines.bits);
  file.Value(instr.flags);
  file.Value(instr.num_accesses);
  file.Value(instr.table_set);
  for (Evidence& evidence : instr.evidence) file.Value(evidence);
  file.Value(instr.source);
  file.Value(instr.ordered_group);
  file.Value(instr.first_access);
  file.Value(instr.dma);
  file.Value(instr.elements);
  for (float& ns : instr.interval_ns) file.Value(ns);
  for (float& ns : instr.latency_ns) file.Value(ns);
  for (float& ns : instr.fixed_ns) file.Value(ns);
  file.Value(instr.weight_load_ns);
  file.Value(instr.array_activity);
  file.Value(instr.flops);
}

template <class File>
void Fields(File& file, Access& access) {
  file.Value(access.slot);
  file.Value(access.pitch);
  file.Value(access.row_begin);
  file.Value(access.row_end);
  file.Value(access.byte_begin);
  file.Value(access.byte_end);
  file.Value(access.read);
  file.Value(access.write);
  file.Value(access.whole);
  file.Value(access.stationary);
  file.Value(access.broadcast);
  file.Value(access.element_bytes);
}

template <class File>
void Fields(File& file, DmaShape& dma) {
  file.Value(dma.bytes);
  file.Value(dma.descriptor_bytes);
  file.Value(dma.partitions);
  file.Value(dma.start_partition);
  file.Value(dma.load);
  file.Value(dma.store);
  file.Value(dma.transpose);
  file.Value(dma.accumulate);
  file.Value(dma.aligned);
}

template <class File>
void Fields(File& file, DeclaredEdge& edge) {
  file.Value(edge.to);
  file.Value(edge.from);
}

template <class File>
void Fields(File& file, TensorEvent& event) {
  file.Value(event.before);
  file.Value(event.slot);
  file.Value(event.decl);
  file.Value(event.release);
}

template <class File>
void Fields(File& file, TensorDecl& decl) {
  file.Value(decl.memory);
  file.Value(decl.partitions);
  file.Value(decl.start_partition);
  file.Value(decl.partition_bytes);
  file.Value(decl.address_byte);
  file.Value(decl.source);
  file.Text(decl.name);
}

template <class File>
void Fields(File& file, SourceLine& line) {
  file.Text(line.file);
  file.Value(line.line);
  file.Text(line.function);
}

template <class File>
void Fields(File& file, Program& program, std::vector<SourceLine>& lines) {
  const auto walk = [&](auto& element) { Fields(file, element); };
  file.Value(program.first);
  file.Array(program.instrs, walk);
  file.Array(program.accesses, walk);
  file.Array(program.dmas, walk);
  file.Array(program.edges, walk);
  file.Array(program.events, walk);
  file.Array(program.decls, walk);
  file.Array(lines, walk);
}

bool EnumsHold(const Program& program) {
  for (const TimedInstr& instr : program.instrs) {
    if (instr.engine > Engine::kUnknown) return false;
    for (const Evidence evidence : instr.evidence) {
      if (static_cast<int>(evidence) >= kNumEvidence) return false;
    }
    if (instr.engine == Engine::kUnknown && instr.engines.empty()) return false;
  }
  for (const TensorDecl& decl : program.decls) {
    if (decl.memory > Memory::kRegister || decl.partition_bytes < 0) return false;
  }
  return true;
}

Status BadFile(const char* what) {
  return Error(Code::kCorrupt, "recorded program: {}; record the kernel again", what);
}

}  // namespace

std::string WriteProgram(const Program& program) {
  Program copy = program;  // Fields serves reading too and wants it mutable
  std::vector<SourceLine> lines;
  for (size_t i = 1; program.sources && i < program.sources->size(); ++i) {
    lines.push_back(program.sources->at(static_cast<SourceId>(i)));
  }
  FieldWriter writer;
  writer.bytes() = kMagic;
  uint32_t version = kVersion;
  writer.Value(version);
  Fields(writer, copy, lines);
  uint32_t crc = Crc32c(writer.bytes());
  writer.Value(crc);
  return std::move(writer.bytes());
}

Result<Program> ReadProgram(std::string_view bytes) {
  uint32_t version = 0, crc = 0;
  if (bytes.size() < kMagic.size() + 2 * sizeof(uint32_t) || !bytes.starts_with(kMagic)) {
    return BadFile("this is no such file");
  }
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  if (version != kVersion) {
    return Error(Code::kMismatch,
                 "recorded program: version {}, expected {}; record the kernel again", version,
                 kVersion);
  }
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof crc);
  std::memcpy(&crc, bytes.data() + body.size(), sizeof crc);
  if (crc != Crc32c(body)) return BadFile("the checksum does not match");
  FieldReader reader(body.substr(kMagic.size() + sizeof version));
  Program program;
  std::vector<SourceLine> lines;
  Fields(reader, program, lines);
  if (reader.failed() || !reader.at_end()) return BadFile("it ends in the middle, or goes on");
  if (!EnumsHold(program)) return BadFile("an engine or memory that does not exist");
  WT_RETURN_IF_ERROR(CheckProgram(program));
  auto sources = std::make_shared<SourceTable>();
  for (const SourceLine& line : lines) sources->Add(line.file, line.line, line.function);
  program.sources = sources;
  return program;
}

Status SaveProgram(const Program& program, const std::string& path) {
  return WriteFileAtomic(path, WriteProgram(program));
}

Result<Program> LoadProgram(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  auto program = ReadProgram(file->text());
  if (!program.ok()) return program.status().WithContext(path);
  return program;
}

}  // namespace wt::chip
