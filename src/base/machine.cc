#include "base/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/files.h"

namespace wt {
namespace {

// The number after `key` in a file of "key: number" lines; 0 when there is none.
int64_t NumberAfter(const std::string& path, std::string_view key) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return 0;
  const size_t at = text->find(key);
  if (at == std::string::npos) return 0;
  const size_t digit = text->find_first_of("0123456789", at + key.size());
  int64_t value = 0;
  if (digit != std::string::npos) std::from_chars(text->data() + digit, text->data() + text->size(), value);
  return value;
}

// Room left in a control group: limit minus use; 0 when it sets none.
int64_t GroupRoom(const std::string& limit_path, const std::string& use_path) {
  const int64_t limit = NumberAfter(limit_path, "");
  constexpr int64_t kNoLimit = int64_t{1} << 60;
  if (limit <= 0 || limit >= kNoLimit) return 0;
  return std::max<int64_t>(1, limit - NumberAfter(use_path, ""));
}

}  // namespace

int64_t AvailableMemoryBytes() {
  int64_t available = NumberAfter("/proc/meminfo", "MemAvailable:") * 1024;
  const std::string v2 = "/sys/fs/cgroup/memory.", v1 = "/sys/fs/cgroup/memory/memory.";
  for (const int64_t room : {GroupRoom(v2 + "max", v2 + "current"),
                             GroupRoom(v1 + "limit_in_bytes", v1 + "usage_in_bytes")}) {
    if (room > 0) available = available > 0 ? std::min(available, room) : room;
  }
  return available;
}

int64_t PeakResidentBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

std::string ProcessorName() {
  const Result<std::string> text = ReadFile("/proc/cpuinfo");
  const std::string_view key = "model name";
  const size_t at = text.ok() ? text->find(key) : std::string::npos;
  if (at == std::string::npos) return "unknown processor";
  const size_t begin = text->find(": ", at) + 2;
  return text->substr(begin, text->find('\n', begin) - begin);
}

}  // namespace wt
