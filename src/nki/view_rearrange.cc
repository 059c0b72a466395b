// NkiTensor.rearrange: split, permute and merge dimensions by name.
#include <algorithm>
#include <map>
#include <set>

#include "nki/view.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

// The sizes of one group's names: those given, and one more that follows from the dimension's size.
Status GroupSizes(const View& view, int dim, const std::vector<std::string>& group,
                  const std::map<std::string, int64_t>& given, std::vector<int64_t>* sizes) {
  int open = 0;
  for (const std::string& name : group) {
    const auto found = given.find(name);
    sizes->push_back(found == given.end() ? -1 : found->second);
    open += found == given.end();
  }
  if (open > 1) {
    return KernelError(ErrorClass::kShape,
                       "rearrange: the sizes of ({}) in dimension {} of {} are open; name all but "
                       "one of them in fixed_sizes",
                       fmt::join(group, ", "), dim, Describe(view));
  }
  return {};
}

std::vector<std::string> Flatten(const AxisGroups& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups) names.insert(names.end(), group.begin(), group.end());
  return names;
}

Status CheckNames(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  const std::set<std::string> from_set(from.begin(), from.end()), to_set(to.begin(), to.end());
  if (from_set.size() == from.size() && to_set.size() == to.size() && from_set == to_set) return {};
  return KernelError(ErrorClass::kShape,
                     "rearrange: ({}) to ({}); expected each name once on both sides",
                     fmt::join(from, ", "), fmt::join(to, ", "));
}

// One dimension per name, in the order of `from`.
Status SplitGroups(const View& view, const AxisGroups& from,
                   const std::map<std::string, int64_t>& given, View* result) {
  *result = view;
  int at = 0;
  for (const auto& group : from) {
    std::vector<int64_t> sizes;
    WT_RETURN_IF_ERROR(GroupSizes(*result, at, group, given, &sizes));
    const View before = *result;
    WT_RETURN_IF_ERROR(ReshapeDim(before, at, sizes, result));
    at += static_cast<int>(group.size());
  }
  return {};
}

}  // namespace

Status Rearrange(const View& view, const AxisGroups& from, const AxisGroups& to,
                 std::span<const std::pair<std::string, int64_t>> sizes, View* result) {
  if (from.size() != view.rank) {
    return KernelError(ErrorClass::kShape, "rearrange: {} groups for {}; expected one a dimension",
                       from.size(), Describe(view));
  }
  const auto names = Flatten(from), wanted = Flatten(to);
  WT_RETURN_IF_ERROR(CheckNames(names, wanted));
  for (const auto& group : from) {
    if (group.empty()) {
      return KernelError(ErrorClass::kShape, "rearrange: an empty group in the source pattern");
    }
  }
  View split;
  WT_RETURN_IF_ERROR(
      SplitGroups(view, from, std::map<std::string, int64_t>(sizes.begin(), sizes.end()), &split));
  std::vector<int64_t> order;
  for (const std::string& name : wanted) {
    order.push_back(std::find(names.begin(), names.end(), name) - names.begin());
  }
  WT_RETURN_IF_ERROR(Permute(split, order, result));
  int at = 0;
  for (const auto& group : to) {
    const View before = *result;
    if (group.empty()) {
      WT_RETURN_IF_ERROR(ExpandDim(before, at, result));
    } else {
      const auto last = at + static_cast<int>(group.size()) - 1;
      WT_RETURN_IF_ERROR(FlattenDims(before, at, last, result));
    }
    ++at;
  }
  return {};
}

}  // namespace wt::nki
