#include "chip/check/finding.h"

#include <algorithm>

namespace wt::chip {

void Findings::Add(Finding finding) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const Finding& other) {
    return other.error_class == finding.error_class && other.source == finding.source &&
           other.other == finding.other;
  });
  if (same != all_.end()) {
    ++same->count;
  } else {
    all_.push_back(std::move(finding));
  }
}

}  // namespace wt::chip
