// Makes a Profile: schedules the program, follows every instruction's times, then attributes stalls
// and ranks advice.
#pragma once

#include "chip/profile/profile.h"

namespace wt::chip {

struct ProfileOptions {
  std::string kernel;
  bool band = true;  // also schedule under the policies that disagree most (policy ends)
  // Sees every instruction of the main schedule (trace.h), with its core; may be empty.
  std::function<void(size_t core, uint64_t number, const Scheduled& scheduled)> sink;
};

// One profile a core: one program, or two for the pair of a logical core.
Result<std::vector<Profile>> MakeProfiles(const Machine& machine, const Policy& policy,
                                          const std::vector<const Program*>& programs,
                                          const ProfileOptions& options);

}  // namespace wt::chip
