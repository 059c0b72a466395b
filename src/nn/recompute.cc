#include "nn/recompute.h"

#include <algorithm>

namespace wt::nn {
namespace {

class Rewriter {
 public:
  Rewriter(Graph* graph, Recompute policy)
      : graph_(graph), policy_(policy), program_(graph->program()) {
    producer_.assign(program_.values.size(), -1);
    for (size_t n = 0; n < program_.nodes.size(); ++n) {
      if (program_.nodes[n].phase != Phase::kForward) continue;
      for (ValueId id : program_.nodes[n].outputs) {
        if (program_.value(id).role == Role::kActivation)
          producer_[Index(id)] = static_cast<int64_t>(n);
      }
    }
    copy_.assign(program_.values.size(), kNoValue);
  }

  void Run() {
    const std::vector<Node> nodes = program_.nodes;
    for (const Node& original : nodes) {
      Node node = original;
      if (node.phase == Phase::kBackward) {
        for (ValueId& id : node.inputs) id = Available(id);
      }
      rewritten_.push_back(node);
    }
    program_.nodes = rewritten_;
  }

 private:
  static size_t Index(ValueId id) { return static_cast<size_t>(id); }

  bool Kept(ValueId id) const {
    if (Index(id) >= producer_.size() || producer_[Index(id)] < 0) return true;
    const Node& node = program_.nodes[static_cast<size_t>(producer_[Index(id)])];
    if (node.op->name == std::string_view("head_loss_train")) return true;
    const auto& kept = graph_->checkpoints();
    if (std::find(kept.begin(), kept.end(), id) != kept.end()) return true;
    return policy_ == Recompute::kCheap ? !node.op->cheap : false;
  }

  // `id` itself if it is kept, else its copy, whose nodes are appended on first use.
  ValueId Available(ValueId id) {
    if (id == kNoValue || Kept(id)) return id;
    if (copy_[Index(id)] != kNoValue) return copy_[Index(id)];
    Node node = program_.nodes[static_cast<size_t>(producer_[Index(id)])];
    for (ValueId& input : node.inputs) input = Available(input);
    for (ValueId& output : node.outputs) output = Duplicate(output);
    node.phase = Phase::kBackward;
    node.scope += ".again";
    rewritten_.push_back(node);
    return copy_[Index(id)];
  }

  ValueId Duplicate(ValueId id) {
    const Value value = program_.value(id);
    const ValueId copy = graph_->AddValue(value.name + "'", value, Role::kActivation);
    return copy_[Index(id)] = copy;
  }

  Graph* graph_;
  Recompute policy_;
  StepProgram& program_;
  std::vector<int64_t> producer_;  // per value: the forward node that makes it
  std::vector<ValueId> copy_;      // per value: its recomputed copy
  std::vector<Node> rewritten_;
};

}  // namespace

Result<Recompute> ParseRecompute(const std::string& name) {
  if (name == "none") return Recompute::kNone;
  if (name == "cheap") return Recompute::kCheap;
  if (name == "block") return Recompute::kBlock;
  return Error(Code::kInvalidArgument, "train.recompute is '{}'; expected none, cheap or block",
               name);
}

void ApplyRecompute(Graph* graph, Recompute policy) {
  if (policy != Recompute::kNone) Rewriter(graph, policy).Run();
}

}  // namespace wt::nn
