// What a kernel's author could change, with an estimate of the gain. Each rule is a function;
// estimates are bounded by what the next busiest engine leaves.
#pragma once

#include <vector>

#include "chip/machine.h"
#include "chip/profile/profile.h"

namespace wt::chip {

// Largest gain first; gains under a hundredth of the latency are left out. Requires all other
// members of `profile`.
std::vector<Advice> RankAdvice(const Machine& machine, const Program& program,
                               const Profile& profile);

}  // namespace wt::chip
