#include "price/trust.h"

#include <set>

#include "base/text_util.h"
#include "nn/op.h"

namespace wt::price {
namespace {

constexpr int64_t kCoresPerChip = 8;
// What the measured rows cover.
constexpr int64_t kContext = 1024;
constexpr int64_t kShallow = 8, kDeep = 13, kNarrow = 768, kWide = 1024, kLongHead = 256;

std::vector<std::string> OpsWithoutRule(const nn::StepProgram& program, const Pricing& pricing) {
  std::set<std::string> names;
  for (const nn::Node& node : program.nodes) {
    const bool moves = node.phase == nn::Phase::kForward || node.phase == nn::Phase::kBackward;
    if (moves && !pricing.lowerings.count(node.op->name)) names.insert(node.op->name);
  }
  return {names.begin(), names.end()};
}

void FlagMachine(const StepSetup& setup, std::vector<std::string>* flags) {
  const int64_t cores = setup.machine.lnc * setup.machine.ranks;
  if (cores > kCoresPerChip) {
    flags->push_back(fmt::format(
        "{} cores are more than one chip: collectives between chips are not priced", cores));
  }
  if (cores < kCoresPerChip) {
    flags->push_back(fmt::format("{} of the chip's {} cores are used", cores, kCoresPerChip));
  }
  if (setup.machine.name != "trn2") {
    flags->push_back(
        fmt::format("every measured step is of a trn2, none of a {}", setup.machine.name));
  }
}

void FlagShape(const ProgramShape& shape, const StepSetup& setup, std::vector<std::string>* flags) {
  if (setup.context != kContext) {
    flags->push_back(fmt::format(
        "context {}: measured steps have 1,024 (and fp32 ones 2,048), so growth with the context "
        "is arithmetic",
        setup.context));
  }
  if (setup.toolchain.mode == Mode::kEager) {
    flags->emplace_back("eager: bound by the host, at 0.2 to 0.7 ms an op by whose log one reads");
  }
  if (setup.toolchain.mode == Mode::kKernels) {
    flags->emplace_back(
        "kernels: their times are the simulated core's, without the launch; no measured step runs "
        "them");
  }
  if (shape.fp32) flags->emplace_back("fp32: measured only 640 wide, 6 deep, on pairs of cores");
}

Trust BandOf(const ProgramShape& shape, const StepSetup& setup, const Pricing& pricing) {
  const auto band = [&](const char* name, const char* why) {
    const auto found = pricing.bands.find(name);
    return Trust{found == pricing.bands.end() ? 0 : found->second, why, {}};
  };
  const bool known_machine =
      setup.machine.name == "trn2" && setup.machine.lnc * setup.machine.ranks == kCoresPerChip;
  if (setup.toolchain.mode != Mode::kCompiled || !known_machine) {
    return band("outside", "no measured step is near");
  }
  const bool near = shape.depth >= kShallow && shape.depth <= kDeep && shape.width <= 1280;
  if (setup.context != kContext || shape.fp32 || !near || shape.width > kWide) {
    return band("wide", "at the edge of what was measured");
  }
  if (shape.head_dim < kLongHead || shape.width < kNarrow) {
    return band("short_head", "head dimension up to 128, or narrow");
  }
  return band("core", "8 to 13 layers, 768 to 1024 wide, head dimension 256 and more, bf16");
}

}  // namespace

ProgramShape ShapeOf(const nn::StepProgram& program) {
  ProgramShape shape;
  for (const nn::Node& node : program.nodes) {
    if (node.phase != nn::Phase::kForward || !node.attrs.Has("window")) continue;
    ++shape.depth;
    shape.head_dim = node.attrs.Int("head_dim");
    const nn::Value& queries = program.value(node.inputs[0]);
    shape.width = queries.shape.back();
    shape.fp32 = shape.fp32 || queries.dtype == DType::kF32;
  }
  return shape;
}

Trust JudgeTrust(const nn::StepProgram& program, const StepSetup& setup, const Pricing& pricing) {
  const ProgramShape shape = ShapeOf(program);
  Trust trust = BandOf(shape, setup, pricing);
  FlagMachine(setup, &trust.flags);
  FlagShape(shape, setup, &trust.flags);
  const std::vector<std::string> unruled = OpsWithoutRule(program, pricing);
  if (!unruled.empty() && setup.toolchain.mode != Mode::kKernels) {
    trust.flags.push_back(
        fmt::format("{}: one pass over each operand is assumed; no measured step "
                    "says how the compiler splits {}",
                    Join(unruled, ", "), unruled.size() == 1 ? "it" : "them"));
  }
  return trust;
}

}  // namespace wt::price
