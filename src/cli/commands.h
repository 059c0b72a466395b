// The commands of the windtunnel program; each adds itself to the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace wt::cli {

void AddDataCommand(CLI::App* app);
void AddTokenizerCommand(CLI::App* app);
void AddTrainCommand(CLI::App* app);
void AddEvalCommand(CLI::App* app);
void AddSampleCommand(CLI::App* app);
void AddKernelCommand(CLI::App* app);
void AddPriceCommand(CLI::App* app);
void AddCompareCommand(CLI::App* app);
void AddRehearseCommand(CLI::App* app);
void AddPythonPathCommand(CLI::App* app);

}  // namespace wt::cli
