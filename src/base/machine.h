// What this machine has: free memory, the process's peak, the processor's name. For messages and reports.
#pragma once

#include <cstdint>
#include <string>

namespace wt {

// Bytes that can be allocated without swapping: the system's figure or the control group's, whichever is less; 0
// when neither can be read.
int64_t AvailableMemoryBytes();
// The largest resident size of this process so far.
int64_t PeakResidentBytes();
// "AMD EPYC …", from /proc/cpuinfo; "unknown processor" elsewhere.
std::string ProcessorName();

}  // namespace wt
