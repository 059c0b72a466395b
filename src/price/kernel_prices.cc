#include "price/kernel_prices.h"

#include <cmath>
#include <set>

#include "base/text_util.h"
#include "chip/origin.h"
#include "nki/run_kernel.h"
#include "price/kernel_call.h"
#include "price/kernel_check.h"

namespace wt::price {
namespace {

constexpr int kCheckRows = 256;

// Whether QK norm keeps the scores of an attention node within `limit`.
bool ScoresAreBounded(const nn::StepProgram& program, const nn::Node& node, double limit) {
  if (limit <= 0) return false;
  double bound = std::sqrt(static_cast<double>(node.attrs.Int("head_dim")));
  int normed = 0;
  const size_t first = std::string(node.op->name) == "attention" ? 0 : 1;
  for (size_t i = first; i < first + 2; ++i) {
    for (const nn::Node& maker : program.nodes) {
      if (maker.outputs.empty() || maker.outputs[0] != node.inputs[i]) continue;
      if (std::string(maker.op->name) != "rope_norm" || maker.attrs.Int("norm") == 0) return false;
      bound *= std::abs(maker.attrs.Real("gain"));
      ++normed;
    }
  }
  return normed == 2 && bound <= limit;
}

// Nodes of one op, attributes and shapes: one kernel to time.
struct Job {
  size_t node = 0;  // the first of them
  std::vector<size_t> nodes;
  const KernelRow* row = nullptr;
  std::string kernel;
  bool own = false;
};

struct SlicePoint {
  int64_t extent = 0;
  std::vector<nki::KernelArg> args;
};

class StepTimer {
 public:
  StepTimer(const nn::StepProgram& program, const StepSetup& setup, const KernelRequest& request,
            const KernelTable& table, KernelTimer timer)
      : program_(program),
        setup_(setup),
        request_(request),
        table_(table),
        timer_(std::move(timer)) {
    prices_.nodes.resize(program.nodes.size());
  }

  Result<KernelPrices> Run() {
    CollectJobs();
    WT_RETURN_IF_ERROR(CheckOwn());
    size_t done = 0;
    for (const auto& [key, job] : jobs_) {
      auto priced = Price(job, done++);
      if (priced.ok()) {
        for (const size_t node : job.nodes) prices_.nodes[node] = *priced;
        continue;
      }
      if (job.own) return OwnError(job, priced.status());
      const std::string& text = priced.status().message();
      without_[job.row->op].insert(text.substr(0, text.find('\n')));
    }
    if (request_.progress && recorded_) request_.progress(jobs_.size(), jobs_.size(), "");
    for (const auto& [op, reasons] : without_) {
      prices_.notes.push_back(fmt::format("{}: compiled price, no kernel ({})", op,
                                          Join({reasons.begin(), reasons.end()}, "; ")));
    }
    return std::move(prices_);
  }

 private:
  void CollectJobs() {
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const nn::Node& node = program_.nodes[i];
      const std::string op = node.op->name;
      const KernelRow* row = table_.Find(op);
      const auto own = request_.own.find(op);
      if (own == request_.own.end() && (!request_.library || !row || row->kernel.empty())) {
        if (request_.library) without_[op].insert(row ? row->none : "no row in data/kernels.toml");
        continue;
      }
      Job job{i,
              {},
              row,
              own == request_.own.end() ? row->kernel : own->second,
              own != request_.own.end()};
      if (!job.own && ScoresAreBounded(program_, node, row->score_limit)) job.kernel = row->bounded;
      jobs_.emplace(job.kernel + " " + SignatureOf(node), job).first->second.nodes.push_back(i);
    }
  }

  // What two nodes of one price have in common.
  std::string SignatureOf(const nn::Node& node) const {
    std::string text = fmt::format("{} {}", node.op->name, static_cast<int>(node.phase));
    for (const auto& [name, entry] : node.attrs.entries()) {
      if (name == "index") continue;  // which element of a vector, not what is done
      std::visit([&](const auto& value) { text += fmt::format(" {}={}", name, value); }, entry);
    }
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const nn::ValueId id : *ids) {
        text += id == nn::kNoValue ? " -"
                                   : fmt::format(" {}{}", DTypeName(program_.value(id).dtype),
                                                 nn::ShapeText(program_.value(id).shape));
      }
    }
    return text;
  }

  Status CheckOwn() {
    std::set<std::string> seen;
    for (const auto& [key, job] : jobs_) {
      if (!job.own || !seen.insert(job.row->op + DTypeName(TypeOf(job))).second) continue;
      const KernelCheck check{
          program_, program_.nodes[job.node], *job.row, job.kernel,
          std::min<int64_t>(kCheckRows, SliceOf(program_, NodeOf(job), *job.row))};
      const auto text = CheckKernel(check);
      if (!text.ok()) return OwnError(job, text.status());
      prices_.notes.push_back(*text);
    }
    return {};
  }

  const nn::Node& NodeOf(const Job& job) const { return program_.nodes[job.node]; }
  DType TypeOf(const Job& job) const {
    for (const nn::ValueId id : NodeOf(job).inputs) {
      if (id != nn::kNoValue) return program_.value(id).dtype;
    }
    return DType::kF32;
  }

  Status OwnError(const Job& job, const Status& status) const {
    const KernelRow& row = *job.row;
    const std::string instead =
        row.kernel.empty() ? "the compiler's code" : "kernels/" + row.kernel;
    return Error(status.code(), "[kernels] {} = \"{}\": {}\nThe library's instead: {}", row.op,
                 job.kernel, status.message(), instead);
  }

  Result<SlicePoint> PointOf(const Job& job, int64_t extent) const {
    WT_ASSIGN_OR_RETURN(const nn::StepProgram cut,
                        CutNode(program_, NodeOf(job), *job.row, extent));
    SlicePoint point{extent, {}};
    WT_ASSIGN_OR_RETURN(point.args, KernelArgsOf(cut, *job.row, nullptr));
    return point;
  }

  Result<KernelTime> TimeOf(const Job& job, const SlicePoint& point, size_t done) {
    WT_ASSIGN_OR_RETURN(const bool known, timer_.Known(job.kernel, point.args));
    if (!known && request_.progress) request_.progress(done, jobs_.size(), job.row->op);
    recorded_ = recorded_ || !known;
    auto time = timer_.Time(job.kernel, point.args);
    if (time.ok()) return time;
    return time.status().WithContext(fmt::format("with {}", ArgsText(point.args)));
  }

  // A core's share of the rows: all of them, or two slices whose difference gives the pace.
  Result<NodeKernel> Price(const Job& job, size_t done) {
    const auto cores = static_cast<double>(setup_.machine.lnc);
    const int64_t extent = ExtentOf(program_, NodeOf(job), *job.row);
    NodeKernel price{job.kernel, "", 0, 0, chip::Engine::kUnknown};
    if (extent == 0) {  // whole matrices, dealt out to the cores
      WT_ASSIGN_OR_RETURN(const SlicePoint point, PointOf(job, 0));
      WT_ASSIGN_OR_RETURN(const KernelTime time, TimeOf(job, point, done));
      price.seconds = time.seconds / cores;
      price.bytes = time.bytes;
      price.busiest = time.busiest;
      return price;
    }
    const double share = static_cast<double>(extent) / cores;
    const int64_t slice = SliceOf(program_, NodeOf(job), *job.row);
    const bool sliced = share > static_cast<double>(2 * slice);
    const auto most = static_cast<int64_t>(std::ceil(share));
    WT_ASSIGN_OR_RETURN(const SlicePoint large, PointOf(job, sliced ? 2 * slice : most));
    WT_ASSIGN_OR_RETURN(const KernelTime time, TimeOf(job, large, done));
    price.seconds = time.seconds;
    price.bytes = time.bytes * cores;
    price.busiest = time.busiest;
    if (sliced) {
      WT_ASSIGN_OR_RETURN(const SlicePoint small, PointOf(job, slice));
      WT_ASSIGN_OR_RETURN(const KernelTime half, TimeOf(job, small, done));
      const double more = share / static_cast<double>(slice) - 2;
      price.seconds += more * (time.seconds - half.seconds);
      price.bytes += more * (time.bytes - half.bytes) * cores;
      price.basis =
          fmt::format("{} and {} of {} recorded, the rest in proportion", slice, 2 * slice, share);
    } else if (static_cast<double>(most) > share) {
      price.seconds *= share / static_cast<double>(most);
      price.bytes *= share / static_cast<double>(most);
      price.basis = fmt::format("{} recorded, {} in proportion", most, share);
    }
    return price;
  }

  const nn::StepProgram& program_;
  const StepSetup& setup_;
  const KernelRequest& request_;
  const KernelTable& table_;
  KernelTimer timer_;
  KernelPrices prices_;
  std::map<std::string, Job> jobs_;
  std::map<std::string, std::set<std::string>> without_;
  bool recorded_ = false;
};

Status CheckNames(const KernelRequest& request, const KernelTable& table) {
  std::vector<std::string> names;
  for (const auto& [op, row] : table.rows()) {
    if (!row.args.empty()) names.push_back(op);
  }
  for (const auto& [op, kernel] : request.own) {
    WT_RETURN_IF_ERROR(
        chip::FindName(op, names, "op that takes a kernel").status().WithContext("[kernels]"));
    WT_RETURN_IF_ERROR(nki::SplitKernelName(kernel).status().WithContext("[kernels] " + op));
  }
  return {};
}

}  // namespace

Result<KernelPrices> PriceKernels(const nn::StepProgram& program, const StepSetup& setup,
                                  std::shared_ptr<const chip::Machine> machine,
                                  const KernelRequest& request) {
  WT_ASSIGN_OR_RETURN(const KernelTable table, KernelTable::Load());
  WT_RETURN_IF_ERROR(CheckNames(request, table));
  const bool paired = setup.machine.lnc * setup.machine.ranks > 1;
  WT_ASSIGN_OR_RETURN(KernelTimer timer, KernelTimer::Create(machine, request.cache, paired));
  return StepTimer(program, setup, request, table, std::move(timer)).Run();
}

}  // namespace wt::price
