// What a program moves: bytes by direction, descriptors, and HBM bytes that are loaded more than
// once.
#pragma once

#include "chip/profile/profile.h"

namespace wt::chip {

// Descriptor sizes, at most and where an engine saturates, are the machine file's.
DmaStats CountDma(const Program& program, const Machine& machine);

}  // namespace wt::chip
