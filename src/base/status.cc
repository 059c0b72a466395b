#include "base/status.h"

#include <cstdio>

namespace wt {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kMismatch:
      return "mismatch";
    case Code::kIo:
      return "i/o";
    case Code::kCapacity:
      return "capacity";
    case Code::kNumeric:
      return "numeric";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

void CheckFailed(const char* file, int line, const char* what, const std::string& why) {
  std::fprintf(stderr, "%s:%d: internal error: %s is false: %s\n", file, line, what, why.c_str());
  std::abort();
}

}  // namespace wt
