// The windtunnel program: reads the command line and hands over to one command.
#include <cstdio>

#include "cli/commands.h"
#include "tensor/block_gemm.h"

int main(int argc, char** argv) {
  CLI::App app{
      "Windtunnel rehearses a Trainium training run without the chip: it trains language models "
      "for real "
      "under a time budget and scores them as the contest does."};
  app.name("windtunnel");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  windtunnel train recipes/nano.toml --set train.budget=2m\n"
      "  windtunnel eval bpb runs/nano-1\n"
      "  windtunnel sample runs/nano-1 --prompt \"It is a truth\"\n"
      "  windtunnel price recipes/baseline.toml --set model.head_dim=256\n"
      "  windtunnel compare recipes/baseline.toml recipes/baseline.toml --set model.kv_heads=1\n"
      "  windtunnel rehearse recipes/baseline.toml --scale 0.25\n"
      "  windtunnel kernel profile kernels/softmax.py:softmax --arg x=4096x2048:bf16\n"
      "`windtunnel COMMAND --help` shows each command's options.");
  wt::cli::AddDataCommand(&app);
  wt::cli::AddTokenizerCommand(&app);
  wt::cli::AddTrainCommand(&app);
  wt::cli::AddEvalCommand(&app);
  wt::cli::AddSampleCommand(&app);
  wt::cli::AddKernelCommand(&app);
  wt::cli::AddPriceCommand(&app);
  wt::cli::AddCompareCommand(&app);
  wt::cli::AddRehearseCommand(&app);
  wt::cli::AddPythonPathCommand(&app);
  if (const wt::Status isa = wt::tensor::CheckBlockGemmEnvironment(); !isa.ok()) {
    std::fprintf(stderr, "windtunnel: %s\n", isa.message().c_str());
    return 1;
  }
  CLI11_PARSE(app, argc, argv);
  return 0;
}
