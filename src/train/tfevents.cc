#include "train/tfevents.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"

namespace wt::train {
namespace {

// Protobuf wire types.
enum : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <class T>
void PutLittleEndian(std::string* out, T value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}

void PutVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
void PutTag(std::string* out, uint64_t field, uint64_t type) { PutVarint(out, field << 3 | type); }

void PutInt(std::string* out, uint64_t field, int64_t value) {
  PutTag(out, field, kVarint);
  PutVarint(out, static_cast<uint64_t>(value));
}
void PutDouble(std::string* out, uint64_t field, double value) {
  PutTag(out, field, kFixed64);
  PutLittleEndian(out, value);
}
void PutFloat(std::string* out, uint64_t field, float value) {
  PutTag(out, field, kFixed32);
  PutLittleEndian(out, value);
}
void PutText(std::string* out, uint64_t field, std::string_view text) {
  PutTag(out, field, kBytes);
  PutVarint(out, text.size());
  out->append(text);
}

// Field numbers of tensorflow.Event, .Summary, .Summary.Value and .SessionLog.
enum : uint64_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
enum : uint64_t { kSummaryValue = 1, kValueTag = 1, kSimpleValue = 2, kSessionStatus = 1 };
constexpr int64_t kSessionStart = 1;

std::string EventOf(double wall_seconds, int64_t step) {
  std::string event;
  PutDouble(&event, kWallTime, wall_seconds);
  if (step != 0) PutInt(&event, kStep, step);
  return event;
}

// CRCs of data that holds CRCs are weak; the format rotates and shifts them.
uint32_t MaskedCrc(std::string_view bytes) { return std::rotr(Crc32c(bytes), 15) + 0xa282ead8u; }

std::string Frame(std::string_view event) {
  std::string record;
  PutLittleEndian(&record, static_cast<uint64_t>(event.size()));
  PutLittleEndian(&record, MaskedCrc(record));
  record += event;
  PutLittleEndian(&record, MaskedCrc(event));
  return record;
}

Status SystemError(const char* what, const std::string& path) {
  const int error = errno;
  return Error(error == ENOSPC ? Code::kCapacity : Code::kIo, "cannot {} {}: {}", what, path,
               std::strerror(error));
}

// The first name that is free, a second later for each that is not: TensorBoard reads the files of
// a folder in the order of their names.
std::pair<int, std::string> CreateFile(const std::string& folder, int64_t seconds) {
  for (;; ++seconds) {
    std::string path = fmt::format("{}/events.out.tfevents.{:010}.windtunnel", folder, seconds);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0 || errno != EEXIST) return {fd, std::move(path)};
  }
}

}  // namespace

Result<TfEventWriter> TfEventWriter::Create(const std::string& folder, double wall_seconds,
                                            int64_t last_step) {
  auto [fd, path] = CreateFile(folder, static_cast<int64_t>(wall_seconds));
  if (fd < 0) return SystemError("create", path);
  TfEventWriter writer(fd, std::move(path));
  std::string version = EventOf(wall_seconds, 0);
  PutText(&version, kFileVersion, "brain.Event:2");
  WT_RETURN_IF_ERROR(writer.Write(version));
  if (last_step > 0) {
    std::string status, start = EventOf(wall_seconds, last_step + 1);
    PutInt(&status, kSessionStatus, kSessionStart);
    PutText(&start, kSessionLog, status);
    WT_RETURN_IF_ERROR(writer.Write(start));
  }
  return writer;
}

TfEventWriter::TfEventWriter(TfEventWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

TfEventWriter::~TfEventWriter() {
  if (fd_ >= 0) close(fd_);
}

Status TfEventWriter::Add(double wall_seconds, int64_t step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    PutText(&value, kValueTag, scalar.tag);
    PutFloat(&value, kSimpleValue, static_cast<float>(scalar.value));
    PutText(&summary, kSummaryValue, value);
  }
  std::string event = EventOf(wall_seconds, step);
  PutText(&event, kSummary, summary);
  return Write(event);
}

Status TfEventWriter::Write(std::string_view event) {
  const std::string record = Frame(event);
  for (size_t done = 0; done < record.size();) {
    const ssize_t n = write(fd_, record.data() + done, record.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("append to", path_);
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace wt::train
