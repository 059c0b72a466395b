// A profile for reading and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "chip/profile/profile.h"

namespace wt::chip {

// A page of text: time, engines, memory, DMA, stalls, what to change, evidence.
std::string ProfileText(const Profile& profile);

// latency_us, engines, dma, mfu, mbu, sbuf_bytes_peak, psum_banks_peak, stalls, advice, evidence, …
nlohmann::json ProfileJson(const Profile& profile);

// "12.3 us", "4.56 ms"
std::string FormatNs(double ns);

}  // namespace wt::chip
