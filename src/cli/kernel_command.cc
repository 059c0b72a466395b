// windtunnel kernel run | profile | check | suite, and windtunnel python-path.
#include "cli/kernel_command.h"

#include <algorithm>
#include <cmath>

#include "chip/convert.h"
#include "cli/commands.h"
#include "nki/npy.h"
#include "nki/python_folder.h"

namespace wt::cli {
namespace {

struct RunArguments {
  KernelOptions kernel;
  std::string out;
  bool json = false;
};

std::string Shape(const nki::HostArray& array) {
  return fmt::format("[{}] {}", fmt::join(array.shape, ", "), DTypeName(array.dtype));
}

struct Summary {
  double low = 0, high = 0, mean = 0;
  int64_t not_finite = 0;
};

Summary Summarize(const nki::HostArray& array) {
  std::vector<float> values(static_cast<size_t>(array.elements()));
  chip::LoadFloats(array.dtype, array.bytes.data(), 1, array.elements(), values.data());
  Summary summary;
  int64_t finite = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      ++summary.not_finite;
      continue;
    }
    summary.low = finite ? std::min(summary.low, value) : value;
    summary.high = finite ? std::max(summary.high, value) : value;
    summary.mean += (value - summary.mean) / static_cast<double>(++finite);
  }
  return summary;
}

std::string FileName(const std::string& folder, std::string output) {
  std::replace_if(
      output.begin(), output.end(), [](char c) { return c == '[' || c == '/'; }, '_');
  std::erase(output, ']');
  return fmt::format("{}/{}.npy", folder, output);
}

void PrintOutput(const nki::KernelOutput& output) {
  const Summary summary = Summarize(output.array);
  std::printf("  %-8s %-24s from %.6g to %.6g, mean %.6g%s\n", output.name.c_str(),
              Shape(output.array).c_str(), summary.low, summary.high, summary.mean,
              summary.not_finite ? fmt::format(", {} not finite", summary.not_finite).c_str() : "");
}

Json OutputJson(const nki::KernelOutput& output) {
  const Summary summary = Summarize(output.array);
  return {{"name", output.name},
          {"shape", output.array.shape},
          {"dtype", DTypeName(output.array.dtype)},
          {"min", summary.low},
          {"max", summary.high},
          {"mean", summary.mean},
          {"not_finite", summary.not_finite}};
}

void Run(const RunArguments& arguments) {
  nki::KernelRun run = KernelRunOf(arguments.kernel, true);
  const nki::KernelResult result = ValueOrExit(nki::RunKernel(run));
  if (!arguments.out.empty()) {
    for (const nki::KernelOutput& output : result.outputs) {
      ExitOn(nki::WriteNpy(FileName(arguments.out, output.name), output.array));
    }
  }
  if (arguments.json) {
    Json outputs = Json::array();
    for (const nki::KernelOutput& output : result.outputs) outputs.push_back(OutputJson(output));
    return PrintJson({{"machine", result.machine->name},
                      {"instructions", result.num_instructions},
                      {"outputs", outputs}});
  }
  std::printf("%s on %s: %s instructions\n", arguments.kernel.kernel.c_str(),
              result.machine->name.c_str(),
              fmt::format("{}", fmt::join(result.num_instructions, " and ")).c_str());
  for (const nki::KernelOutput& output : result.outputs) PrintOutput(output);
  if (!arguments.out.empty()) std::printf("saved in %s\n", arguments.out.c_str());
}

void AddRun(CLI::App* kernel) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = kernel->add_subcommand("run", "run a kernel with values and look at its results");
  AddKernelOptions(run, &arguments->kernel);
  run->add_flag("--fp32", arguments->kernel.fp32,
                "keep fp32 where the kernel says bf16, fp16 or fp8");
  run->add_option("--out", arguments->out, "save the results there as .npy")
      ->check(CLI::ExistingDirectory);
  run->add_flag("--json", arguments->json, "machine-readable");
  run->callback([arguments] { Run(*arguments); });
}

}  // namespace

void AddKernelCommand(CLI::App* app) {
  CLI::App* kernel =
      app->add_subcommand("kernel", "run, time and check NKI kernels on a simulated NeuronCore");
  kernel->require_subcommand(1);
  kernel->footer(
      "Examples:\n"
      "  windtunnel kernel run kernels/softmax.py:softmax --arg x=256x512:f32\n"
      "  windtunnel kernel profile kernels/matmul.py:matmul_tiled --arg lhsT=1024x1024:bf16 "
      "--arg rhs=1024x1024:bf16\n"
      "  windtunnel kernel check kernels/softmax.py:softmax --reference softmax_reference --arg "
      "x=256x512:f32");
  AddRun(kernel);
  AddKernelProfile(kernel);
  AddKernelCheck(kernel);
  AddKernelSuite(kernel);
}

void AddPythonPathCommand(CLI::App* app) {
  CLI::App* command = app->add_subcommand(
      "python-path",
      "print the shell command that lets Python import nki: eval \"$(windtunnel python-path)\"");
  command->callback([] {
    std::printf("export PYTHONPATH='%s'\"${PYTHONPATH:+:$PYTHONPATH}\"\n",
                nki::PythonFolder().c_str());
  });
}

}  // namespace wt::cli
