// Which machine is simulated: by NEURON_PLATFORM_TARGET_OVERRIDE or by name, and its numbers for
// nl.tile_size and the like.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <memory>

#include "chip/machine.h"

namespace wt::nki {

// "trn2" without the variable.
std::string PlatformOfEnvironment();
// "trn2", "gen3", "inf2", …; read once a process.
Result<std::shared_ptr<const chip::Machine>> MachineOfPlatform(const std::string& platform);

// machine_constant(name): of the running kernel's machine, else of the environment's: "generation",
// or a constant of the machine file with or without its table ("vector.bn_stats_max").
PyObject* MachineConstant(PyObject* module, PyObject* name);

}  // namespace wt::nki
