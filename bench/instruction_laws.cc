// Cost rules against measured single instructions:
//     instruction_laws [--machine trn2] [--all]
// Prints the rows with the largest errors first (--all: every row) and a summary. Fails when a
// row that is held is off by 5 % or more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/home.h"
#include "laws.h"

namespace wt::chip {
namespace {

constexpr double kBound = 0.05;

struct Compared {
  MeasuredInstr row;
  Predicted predicted;
  double error = 0;
};

Result<std::vector<Compared>> Compare(const std::string& machine_name) {
  WT_ASSIGN_OR_RETURN(const auto machine, Machine::Load(machine_name));
  WT_ASSIGN_OR_RETURN(const auto rows, ReadMeasuredInstrs(HomeFolder() + "/data/measurements/"
                                                                         "instruction_laws.csv"));
  std::vector<Compared> compared;
  for (const MeasuredInstr& row : rows) {
    WT_ASSIGN_OR_RETURN(const Predicted predicted, Predict(*machine, row));
    compared.push_back({row, predicted, ErrorOf(row, predicted)});
  }
  std::stable_sort(compared.begin(), compared.end(), [](const Compared& a, const Compared& b) {
    return std::abs(a.error) > std::abs(b.error);
  });
  return compared;
}

int Print(const std::vector<Compared>& compared, size_t count) {
  std::printf("%9s %9s %7s  %-9s %-4s instruction\n", "measured", "predicted", "error", "evidence",
              "from");
  double sum = 0, worst = 0;
  for (size_t i = 0; i < compared.size(); ++i) {
    const Compared& c = compared[i];
    sum += std::abs(c.error);
    if (c.row.held) worst = std::max(worst, std::abs(c.error));
    if (i >= count) continue;
    std::printf("%9.1f %9.1f %+6.1f%%  %-9s %-4s %s%s\n", c.row.measured_ns, c.predicted.ns,
                c.error * 100, EvidenceName(c.predicted.evidence), c.row.source.c_str(),
                c.row.Describe().c_str(), c.row.held ? "" : " (not held)");
  }
  std::printf("%zu rows: mean error %.2f %%, median %.2f %%, worst of those held %.1f %%\n",
              compared.size(), 100 * sum / static_cast<double>(compared.size()),
              100 * std::abs(compared[compared.size() / 2].error), 100 * worst);
  return worst < kBound ? 0 : 1;
}

}  // namespace
}  // namespace wt::chip

int main(int argc, char** argv) {
  CLI::App app("Cost rules against measured single instructions");
  std::string machine = "trn2";
  bool all = false;
  app.add_option("--machine", machine, "a chip of data/chips, or a file");
  app.add_flag("--all", all, "print every row");
  CLI11_PARSE(app, argc, argv);
  const auto compared = wt::chip::Compare(machine);
  if (!compared.ok()) {
    std::fprintf(stderr, "instruction_laws: %s\n", compared.status().message().c_str());
    return 2;
  }
  return wt::chip::Print(*compared, all ? compared->size() : 12);
}
