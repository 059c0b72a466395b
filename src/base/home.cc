#include "base/home.h"

#include <cstdlib>

namespace wt {

std::string HomeFolder() {
  const char* value = std::getenv("WINDTUNNEL_HOME");
  return value && *value ? value : WT_SOURCE_DIR;
}

}  // namespace wt
