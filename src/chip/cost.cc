#include "chip/cost.h"

#include <array>

namespace wt::chip {

const char* EvidenceName(Evidence evidence) {
  constexpr std::array<const char*, kNumEvidence> kNames = {"measured", "published", "derived",
                                                            "guessed"};
  return kNames[static_cast<size_t>(evidence)];
}

}  // namespace wt::chip
