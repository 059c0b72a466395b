// windtunnel kernel suite: which kernels of a folder tree run here, and why the others do not. The
// work is done by Python (nki/_suite), which this process becomes: what it starts are processes of
// somebody's kernels, and Ctrl-C is its own affair.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/kernel_command.h"
#include "nki/python_folder.h"

namespace wt::cli {
namespace {

struct SuiteArguments {
  std::string folder;
  std::string expect;
  std::string results;
  std::string only;
  std::string machine;
  double timeout = 120;
  int memory = 4096;
  int jobs = 0;
  bool json = false;
  bool list = false;
  bool resume = false;
};

std::vector<std::string> CommandLine(const SuiteArguments& arguments) {
  std::vector<std::string> words{nki::PythonProgram(), "-B", "-m", "nki._suite", arguments.folder};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const auto add_flag = [&](const char* option, bool given) {
    if (given) words.emplace_back(option);
  };
  add("--expect", arguments.expect);
  add("--results", arguments.results);
  add("--only", arguments.only);
  add("--machine", arguments.machine);
  add("--timeout", fmt::format("{}", arguments.timeout));
  add("--memory", fmt::format("{}", arguments.memory));
  add("--jobs", fmt::format("{}", arguments.jobs));
  add_flag("--json", arguments.json);
  add_flag("--list", arguments.list);
  add_flag("--resume", arguments.resume);
  return words;
}

void Suite(const SuiteArguments& arguments) {
  const char* old = std::getenv("PYTHONPATH");
  const std::string path = nki::PythonFolder() + (old && *old ? ":" + std::string(old) : "");
  setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> words = CommandLine(arguments);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  ExitOn(Error(Code::kIo, "{} does not start: {}", words[0], std::strerror(errno)));
}

}  // namespace

void AddKernelSuite(CLI::App* kernel) {
  auto arguments = std::make_shared<SuiteArguments>();
  CLI::App* suite = kernel->add_subcommand(
      "suite", "find kernels, their tests and examples in a folder tree, run all, say which work");
  suite->add_option("folder", arguments->folder, "where to look; nothing is written there")
      ->required()
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  suite
      ->add_option("--expect", arguments->expect,
                   "kernels with their arguments and references, and statuses that are known "
                   "(docs/SUITE.md); any other status: exit code 1")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  suite->add_option("--only", arguments->only, "only rows whose FILE:NAME matches")
      ->type_name("REGEX");
  suite->add_option("--timeout", arguments->timeout, "seconds a row may take (default 120)")
      ->check(CLI::PositiveNumber);
  suite->add_option("--memory", arguments->memory, "MB a row may take (default 4096)")
      ->check(CLI::PositiveNumber);
  suite->add_option("--jobs", arguments->jobs, "rows at a time (default: as many as processors)");
  suite->add_option("--machine", arguments->machine, "trn1, trn2 or trn3 (default: trn2)");
  suite->add_option("--results", arguments->results, "keep rows in this file as they are done");
  suite->add_flag("--resume", arguments->resume, "leave out what the --results file has");
  suite->add_flag("--list", arguments->list, "say what would run");
  suite->add_flag("--json", arguments->json, "machine-readable: a row a kernel");
  suite->callback([arguments] { Suite(*arguments); });
}

}  // namespace wt::cli
