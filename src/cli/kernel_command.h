// The parts of `windtunnel kernel`, one file each.
#pragma once

#include "cli/kernel_options.h"

namespace wt::cli {

void AddKernelProfile(CLI::App* kernel);
void AddKernelCheck(CLI::App* kernel);
void AddKernelSuite(CLI::App* kernel);

}  // namespace wt::cli
