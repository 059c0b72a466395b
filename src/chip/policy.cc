#include "chip/policy.h"

#include <cmath>
#include <variant>

#include "base/files.h"
#include "base/home.h"
#include "base/text_util.h"
#include "chip/origin.h"

namespace wt::chip {
namespace {

struct PolicyKey {
  const char* name;
  std::variant<int Policy::*, int64_t Policy::*, double Policy::*, bool Policy::*> member;
};

constexpr PolicyKey kKeys[] = {
    {"window", &Policy::window},
    {"dma_window", &Policy::dma_window},
    {"sbuf_copies", &Policy::sbuf_copies},
    {"psum_copies", &Policy::psum_copies},
    {"rename_rewritten_sbuf", &Policy::rename_rewritten_sbuf},
    {"rename_rewritten_psum", &Policy::rename_rewritten_psum},
    {"psum_granule_bytes", &Policy::psum_granule_bytes},
    {"split_load_store_queues", &Policy::split_load_store_queues},
    {"dma_issue_ns", &Policy::dma_issue_ns},
    {"dma_queues", &Policy::dma_queues},
    {"balance_engines", &Policy::balance_engines},
    {"scalar_takes_loaded", &Policy::scalar_takes_loaded},
    {"memset_on_gpsimd", &Policy::memset_on_gpsimd},
    {"load_reuse_share", &Policy::load_reuse_share},
    {"merge_elements", &Policy::merge_elements},
    {"broadcast_by_product", &Policy::broadcast_by_product},
    {"loop_bubble_ns", &Policy::loop_bubble_ns},
    {"limiter_phase", &Policy::limiter_phase},
    {"envelope_ns", &Policy::envelope_ns},
};

std::vector<std::string> KeyNames() {
  std::vector<std::string> names;
  for (const PolicyKey& key : kKeys) names.emplace_back(key.name);
  return names;
}

Status ReadKey(const std::string& name, const toml::node& node, const Sources& sources,
               Policy* policy) {
  WT_ASSIGN_OR_RETURN(const size_t index, FindName(name, KeyNames(), "key of [policy]"));
  if (!node.is_table()) return NotARow("policy." + name);
  TableReader reader(node.as_table(), "policy." + name);
  std::visit([&](auto member) { reader.Get("value", &(policy->*member)); }, kKeys[index].member);
  if (!reader.Has("value")) {
    return Error(Code::kInvalidArgument, "policy.{}: value is missing", name);
  }
  return sources.ReadOrigin(&reader, "policy." + name).status();
}

Status CheckRanges(const Policy& policy) {
  const bool good = policy.window >= 1 && policy.dma_window >= 1 && policy.sbuf_copies >= 1 &&
                    policy.psum_copies >= 1 && policy.psum_granule_bytes >= 1 &&
                    policy.dma_queues >= 1;
  if (!good) {
    return Error(Code::kInvalidArgument,
                 "policy: window, dma_window, sbuf_copies, psum_copies, psum_granule_bytes and "
                 "dma_queues must be at least 1");
  }
  if (policy.limiter_phase > 0 && policy.limiter_phase <= 1) return {};
  return Error(Code::kInvalidArgument, "policy: limiter_phase is {}; expected above 0, up to 1",
               policy.limiter_phase);
}

Status ReadFileOver(const toml::table& file, Sources* sources, Policy* policy) {
  WT_RETURN_IF_ERROR(sources->Read(file));
  const std::vector<std::string> tables = {"name", "inherits", "sources", "policy"};
  for (const auto& [key, node] : file) {
    WT_RETURN_IF_ERROR(FindName(std::string(key.str()), tables, "table").status());
  }
  policy->name = file["name"].value_or(policy->name);
  const toml::table* keys = file["policy"].as_table();
  if (!keys) return {};
  for (const auto& [key, node] : *keys) {
    WT_RETURN_IF_ERROR(ReadKey(std::string(key.str()), node, *sources, policy));
  }
  return {};
}

std::string Folder() { return HomeFolder() + "/data/toolchains"; }

}  // namespace

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  const auto files = ListFiles(Folder() + "/*.toml");
  if (!files.ok()) return names;
  for (const std::string& file : *files) {
    const size_t begin = file.rfind('/') + 1;
    names.push_back(file.substr(begin, file.size() - begin - 5));
  }
  return names;
}

Result<Policy> LoadPolicy(const std::string& name) {
  const bool is_path = name.ends_with(".toml");
  const std::string path = is_path ? name : Folder() + "/" + name + ".toml";
  if (!is_path && !FileExists(path)) {
    return Error(Code::kNotFound, "{} is not a tool chain of {}; known: {}", name, Folder(),
                 Join(PolicyNames(), ", "));
  }
  std::string text;
  WT_ASSIGN_OR_RETURN(const auto files, ReadInherited(path, &text));
  Policy policy;
  Sources sources;
  for (const toml::table& file : files) {
    WT_RETURN_IF_ERROR(ReadFileOver(file, &sources, &policy).WithContext(path));
  }
  WT_RETURN_IF_ERROR(CheckRanges(policy).WithContext(path));
  return policy;
}

}  // namespace wt::chip
