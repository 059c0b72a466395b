// Makes a Profile: schedules the program, follows every instruction's times, then attributes stalls
// and ranks advice.
#pragma once

#include "chip/profile/profile.h"

namespace wt::chip {

struct ProfileOptions {
  std::string kernel;
  bool band = true;   // also schedule under the policies that disagree most (policy ends)
  ScheduleSink sink;  // sees every instruction of the main schedule (trace.h); may be empty
};

Result<Profile> MakeProfile(const Machine& machine, const Policy& policy, const Program& program,
                            const ProfileOptions& options);

}  // namespace wt::chip
