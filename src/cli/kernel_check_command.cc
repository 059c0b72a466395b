// windtunnel kernel check: a kernel against its reference over shapes, element types and seeds,
// with the checks that watch a whole run.
#include <algorithm>

#include "base/text_util.h"
#include "chip/check/dead_store.h"
#include "chip/check/race.h"
#include "chip/check/writer_map.h"
#include "cli/kernel_command.h"
#include "nki/compare.h"

namespace wt::cli {
namespace {

struct CheckArguments {
  KernelOptions kernel;
  std::string reference;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;
  int seeds = 3;
  double rtol = -1, atol = -1;
  bool json = false;
};

// One run: values of the options that differ from case to case.
struct Case {
  std::string title;  // "x=256x512:bf16 seed 1"
  KernelOptions options;
};

struct OutputReport {
  std::string name;
  nki::Comparison comparison;
  std::string index;   // of the first wrong element
  std::string writer;  // who wrote it
};

struct CaseReport {
  std::string title;
  std::vector<OutputReport> outputs;
  bool right = true;
};

// "x=256x512" or "x=256x512:bf16" with another type: x=256x512:f32.
std::string WithDType(const std::string& arg, const std::string& dtype) {
  const size_t equals = arg.find('='), colon = arg.find(':', equals);
  const std::string shape =
      arg.substr(equals + 1, colon == std::string::npos ? colon : colon - equals - 1);
  const bool random = !shape.empty() &&
                      shape.find_first_not_of("0123456789x") == std::string::npos &&
                      (colon != std::string::npos || shape.find('x') != std::string::npos);
  return random ? arg.substr(0, equals + 1) + shape + ":" + dtype : arg;
}

// The arguments with those of `shapes` ("x=256x512,gain=1x512") in place of their namesakes.
std::vector<std::string> WithShapes(std::vector<std::string> args, const std::string& shapes) {
  for (const std::string& item : SplitText(shapes, ',')) {
    const std::string name = item.substr(0, item.find('=') + 1);
    const auto old = std::find_if(args.begin(), args.end(),
                                  [&](const std::string& arg) { return arg.rfind(name, 0) == 0; });
    if (old == args.end()) {
      args.push_back(item);
    } else {
      const size_t colon = old->find(':');
      *old = item.find(':') == std::string::npos && colon != std::string::npos
                 ? item + old->substr(colon)
                 : item;
    }
  }
  return args;
}

std::vector<Case> CasesOf(const CheckArguments& arguments) {
  const std::vector<std::string> shapes =
      arguments.shapes.empty() ? std::vector<std::string>{""} : arguments.shapes;
  const std::vector<std::string> dtypes =
      arguments.dtypes.empty() ? std::vector<std::string>{""} : arguments.dtypes;
  std::vector<Case> cases;
  for (const std::string& shape : shapes) {
    for (const std::string& dtype : dtypes) {
      for (int seed = 0; seed < arguments.seeds; ++seed) {
        Case one{"", arguments.kernel};
        if (!shape.empty()) one.options.args = WithShapes(one.options.args, shape);
        for (std::string& arg : one.options.args) {
          if (!dtype.empty()) arg = WithDType(arg, dtype);
        }
        one.options.seed = arguments.kernel.seed + static_cast<uint64_t>(seed);
        one.title = fmt::format("{} seed {}", fmt::join(one.options.args, " "), one.options.seed);
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

// What watches a run, one of each a core.
class Watchers {
 public:
  explicit Watchers(chip::Findings* findings) : findings_(findings), pair_(findings) {}

  void Attach(chip::Core& core, int cores) {
    writers_.push_back(std::make_unique<chip::WriterMap>());
    core.AddObserver(writers_.back().get());
    Add(core, std::make_unique<chip::DeadStoreCheck>(findings_));
    Add(core, std::make_unique<chip::AliasRaceCheck>(findings_));
    if (cores > 1) Add(core, pair_.ObserverFor(core.rank()));
  }

  // Who wrote byte `byte` of the output; "" when nobody did.
  std::string WriterOf(const nki::KernelResult& result, const void* tensor, int64_t byte) const {
    for (size_t core = 0; core < writers_.size(); ++core) {
      const chip::WrittenBy* writer = writers_[core]->Find(tensor, byte);
      if (!writer) continue;
      const chip::SourceTable& sources = *result.sources[core];
      std::string text = fmt::format("{} at {}", writer->instr, sources.Describe(writer->source));
      if (*writer->producer) {
        text += fmt::format(", of what {} at {} had made", writer->producer,
                            sources.Describe(writer->producer_source));
      }
      return text;
    }
    return "";
  }

 private:
  void Add(chip::Core& core, std::unique_ptr<chip::CoreObserver> observer) {
    core.AddObserver(observer.get());
    observers_.push_back(std::move(observer));
  }

  chip::Findings* findings_;
  chip::CoreRaceCheck pair_;
  std::vector<std::unique_ptr<chip::WriterMap>> writers_;
  std::vector<std::unique_ptr<chip::CoreObserver>> observers_;
};

nki::Tolerance ToleranceOf(const CheckArguments& arguments, DType dtype) {
  nki::Tolerance tolerance = nki::DefaultTolerance(dtype);
  if (arguments.atol >= 0) {
    tolerance.absolute = arguments.atol;
    tolerance.of_largest = 0;
  }
  if (arguments.rtol >= 0) tolerance.relative = arguments.rtol;
  return tolerance;
}

// The reference stands in the kernel's file unless it names another.
std::pair<std::string, std::string> ReferenceOf(const CheckArguments& arguments,
                                                const std::string& file) {
  if (arguments.reference.find(':') == std::string::npos) return {file, arguments.reference};
  return ValueOrExit(nki::SplitKernelName(arguments.reference));
}

CaseReport RunCase(const CheckArguments& arguments, const Case& one, chip::Findings* findings,
                   std::shared_ptr<const chip::SourceTable>* sources) {
  Watchers watchers(findings);
  nki::KernelRun run = KernelRunOf(one.options, true);
  run.attach = [&](chip::Core& core) { watchers.Attach(core, run.cores); };
  const nki::KernelResult result = ValueOrExit(nki::RunKernel(run));
  *sources = result.sources[0];
  const auto [file, function] = ReferenceOf(arguments, run.file);
  const std::vector<nki::HostArray> expected =
      ValueOrExit(nki::RunFunction(file, function, run.args));
  if (expected.size() != result.outputs.size()) {
    ExitOn(Error(Code::kMismatch, "the kernel gives {} results and {} gives {}; expected as many",
                 result.outputs.size(), function, expected.size()));
  }
  CaseReport report{one.title, {}, true};
  for (size_t i = 0; i < expected.size(); ++i) {
    const nki::KernelOutput& output = result.outputs[i];
    OutputReport line{output.name, {}, "", ""};
    line.comparison = ValueOrExit(
        nki::Compare(output.array, expected[i], ToleranceOf(arguments, output.array.dtype)));
    if (line.comparison.first) {
      line.index = nki::IndexText(output.array.shape, *line.comparison.first);
      line.writer = watchers.WriterOf(result, output.array.origin,
                                      *line.comparison.first * DTypeBytes(output.array.dtype));
      report.right = false;
    }
    report.outputs.push_back(std::move(line));
  }
  return report;
}

void PrintCase(const CaseReport& report) {
  std::printf("%s  %s\n", report.right ? "right" : "WRONG", report.title.c_str());
  for (const OutputReport& output : report.outputs) {
    const nki::Comparison& comparison = output.comparison;
    std::printf("  %s: max error %.3g, max relative error %.3g\n", output.name.c_str(),
                comparison.max_error, comparison.max_relative_error);
    if (!comparison.first) continue;
    std::printf(
        "  %lld elements are outside of the tolerance; the first is %s: %.7g instead of %.7g\n",
        static_cast<long long>(comparison.wrong), output.index.c_str(), comparison.result,
        comparison.reference);
    if (!output.writer.empty()) std::printf("  written by %s\n", output.writer.c_str());
  }
}

std::string Places(const chip::Finding& finding, const chip::SourceTable& sources) {
  std::string text = sources.Describe(finding.source);
  if (finding.other != 0) text += " and " + sources.Describe(finding.other);
  return text;
}

void PrintFinding(const chip::Finding& finding, const chip::SourceTable& sources) {
  const chip::ErrorClassRow& row = chip::Row(finding.error_class);
  std::printf("[%s] %s: %s (%lld x)\n  %s\n", row.name, Places(finding, sources).c_str(),
              finding.text.c_str(), static_cast<long long>(finding.count), row.advice);
}

Json ReportJson(const std::vector<CaseReport>& reports, const chip::Findings& findings,
                const chip::SourceTable& sources) {
  Json cases = Json::array(), found = Json::array();
  for (const CaseReport& report : reports) {
    Json outputs = Json::array();
    for (const OutputReport& output : report.outputs) {
      outputs.push_back({{"name", output.name},
                         {"max_error", output.comparison.max_error},
                         {"max_relative_error", output.comparison.max_relative_error},
                         {"wrong", output.comparison.wrong},
                         {"first_wrong", output.index},
                         {"writer", output.writer}});
    }
    cases.push_back({{"case", report.title}, {"right", report.right}, {"outputs", outputs}});
  }
  for (const chip::Finding& finding : findings.all()) {
    found.push_back({{"class", chip::Row(finding.error_class).name},
                     {"text", finding.text},
                     {"at", Places(finding, sources)},
                     {"count", finding.count}});
  }
  return {{"cases", cases}, {"findings", found}};
}

// Exits with 1 when a case is wrong or a race was found; dead stores are advice.
void Check(const CheckArguments& arguments) {
  CatchStopSignals();
  chip::Findings findings;
  std::shared_ptr<const chip::SourceTable> sources;
  std::vector<CaseReport> reports;
  StageLine line;
  const std::vector<Case> cases = CasesOf(arguments);
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!line(fmt::format("case {} of {}: {}", i + 1, cases.size(), cases[i].title))) {
      ExitOn(Error(Code::kInterrupted, "stopped after {} of {} cases", i, cases.size()));
    }
    reports.push_back(RunCase(arguments, cases[i], &findings, &sources));
    line.Clear();
    if (!arguments.json) PrintCase(reports.back());
  }
  if (arguments.json) {
    PrintJson(ReportJson(reports, findings, *sources));
  } else {
    for (const chip::Finding& finding : findings.all()) PrintFinding(finding, *sources);
  }
  const bool wrong =
      std::any_of(reports.begin(), reports.end(), [](const CaseReport& r) { return !r.right; });
  const bool race = std::any_of(
      findings.all().begin(), findings.all().end(),
      [](const chip::Finding& finding) { return finding.error_class == chip::ErrorClass::kRace; });
  if (wrong || race) std::exit(1);
}

}  // namespace

void AddKernelCheck(CLI::App* kernel) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check = kernel->add_subcommand(
      "check",
      "compare a kernel with a NumPy reference, and look for races and stores that nothing reads");
  AddKernelOptions(check, &arguments->kernel);
  check
      ->add_option(
          "--reference", arguments->reference,
          "a plain Python function on the same arguments; without FILE: in the kernel's file")
      ->required()
      ->type_name("[FILE:]FUNC");
  check->add_option("--shapes", arguments->shapes,
                    "shapes of a case: x=256x512,gain=1x512; repeat for more cases");
  check->add_option("--dtypes", arguments->dtypes, "element types to run every case with: bf16,f32")
      ->delimiter(',');
  check->add_option("--seeds", arguments->seeds, "random inputs a case (default 3)")
      ->check(CLI::PositiveNumber);
  check->add_option("--rtol", arguments->rtol, "relative tolerance (default: by element type)");
  check->add_option("--atol", arguments->atol, "absolute tolerance (default: by element type)");
  check->add_flag("--fp32", arguments->kernel.fp32,
                  "keep fp32 where the kernel says bf16, fp16 or fp8");
  check->add_flag("--json", arguments->json, "machine-readable");
  check->callback([arguments] { Check(*arguments); });
}

}  // namespace wt::cli
