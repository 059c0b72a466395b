#include "price/pricing.h"

#include "base/files.h"
#include "base/home.h"
#include "base/text_util.h"
#include "nn/op.h"

namespace wt::price {
namespace {

constexpr ConstantKey kConstants[] = {
    {"pe_efficiency", &Constants::pe_efficiency},
    {"fp32_slowdown", &Constants::fp32_slowdown},
    {"pass_bytes_per_s", &Constants::pass_bytes_per_s},
    {"head_bytes_per_s", &Constants::head_bytes_per_s},
    {"short_head", &Constants::short_head},
    {"short_head_opt_level", &Constants::short_head_opt_level},
    {"muon_flops_per_s", &Constants::muon_flops_per_s},
    {"step_host_s", &Constants::step_host_s},
    {"matrix_host_s", &Constants::matrix_host_s},
    {"scalar_host_s", &Constants::scalar_host_s},
    {"async_share", &Constants::async_share},
    {"zero1_share", &Constants::zero1_share},
    {"zero2_share", &Constants::zero2_share},
    {"graph_share", &Constants::graph_share},
    {"compiled_update_s", &Constants::compiled_update_s},
    {"gather_s", &Constants::gather_s},
    {"eager_op_s", &Constants::eager_op_s},
};

std::vector<std::string> ConstantNames() {
  std::vector<std::string> names;
  for (const ConstantKey& key : kConstants) names.emplace_back(key.name);
  return names;
}

std::vector<std::string> OpNames() {
  std::vector<std::string> names;
  for (const nn::OpDef* op : nn::AllOps()) names.emplace_back(op->name);
  return names;
}

Status ReadConstant(const std::string& name, const toml::node& node, const chip::Sources& sources,
                    Pricing* pricing) {
  WT_ASSIGN_OR_RETURN(const size_t index,
                      chip::FindName(name, ConstantNames(), "key of [constants]"));
  if (!node.is_table()) return chip::NotARow("constants." + name);
  TableReader reader(node.as_table(), "constants." + name);
  Constant row;
  row.id = name;
  reader.Get("value", &row.value);
  reader.Get("unit", &row.unit);
  reader.Get("spread", &row.spread);
  reader.Get("fitted", &row.fitted);
  reader.Get("rows", &row.rows);
  WT_ASSIGN_OR_RETURN(row.origin, sources.ReadOrigin(&reader, "constants." + name));
  if (!(row.value >= 0)) {
    return Error(Code::kInvalidArgument, "constants.{}: value is {}; expected 0 or more", name,
                 row.value);
  }
  pricing->constants.*(kConstants[index].member) = row.value;
  pricing->rows.push_back(std::move(row));
  return {};
}

Status ReadLowering(const std::string& name, const toml::node& node, const chip::Sources& sources,
                    Pricing* pricing) {
  WT_RETURN_IF_ERROR(chip::FindName(name, OpNames(), "op").status());
  if (!node.is_table()) return chip::NotARow("lowering." + name);
  TableReader reader(node.as_table(), "lowering." + name);
  Lowering rule;
  reader.Get("reads", &rule.reads);
  reader.Get("writes", &rule.writes);
  reader.Get("join_input", &rule.join_input);
  reader.Get("join_passes", &rule.join_passes);
  reader.Get("inner_bytes", &rule.inner_bytes);
  reader.Get("inner_bytes_fused", &rule.inner_bytes_fused);
  reader.Get("score_products", &rule.score_products);
  reader.Get("head_shaped", &rule.head_shaped);
  reader.Get("every_micro_batch", &rule.every_micro_batch);
  reader.Get("gathers", &rule.gathers);
  reader.Get("launches", &rule.launches);
  WT_ASSIGN_OR_RETURN(rule.origin, sources.ReadOrigin(&reader, "lowering." + name));
  pricing->lowerings[name] = std::move(rule);
  return {};
}

Status ReadBand(const std::string& name, const toml::node& node, const chip::Sources& sources,
                Pricing* pricing) {
  if (!node.is_table()) return chip::NotARow("band." + name);
  TableReader reader(node.as_table(), "band." + name);
  reader.Get("value", &pricing->bands[name]);
  return sources.ReadOrigin(&reader, "band." + name).status();
}

template <class Read>
Status ReadTable(const toml::table& file, const std::string& table, const chip::Sources& sources,
                 Pricing* pricing, Read read) {
  const toml::table* rows = file[table].as_table();
  if (!rows) return {};
  for (const auto& [key, node] : *rows) {
    WT_RETURN_IF_ERROR(read(std::string(key.str()), node, sources, pricing));
  }
  return {};
}

Status ReadPricing(const toml::table& file, Pricing* pricing) {
  chip::Sources sources;
  WT_RETURN_IF_ERROR(sources.Read(file));
  const std::vector<std::string> tables = {"name", "sources", "constants", "lowering", "band"};
  for (const auto& [key, node] : file) {
    WT_RETURN_IF_ERROR(chip::FindName(std::string(key.str()), tables, "table").status());
  }
  pricing->name = file["name"].value_or(std::string());
  WT_RETURN_IF_ERROR(ReadTable(file, "constants", sources, pricing, ReadConstant));
  WT_RETURN_IF_ERROR(ReadTable(file, "lowering", sources, pricing, ReadLowering));
  WT_RETURN_IF_ERROR(ReadTable(file, "band", sources, pricing, ReadBand));
  if (pricing->rows.size() == std::size(kConstants)) return {};
  return Error(Code::kInvalidArgument, "[constants] has {} rows; expected all of {}",
               pricing->rows.size(), Join(ConstantNames(), ", "));
}

}  // namespace

std::span<const ConstantKey> ConstantKeys() { return kConstants; }

const Lowering& Pricing::LoweringOf(const std::string& op) const {
  static const Lowering once;
  const auto found = lowerings.find(op);
  return found == lowerings.end() ? once : found->second;
}

Result<Pricing> LoadPricing(const std::string& name) {
  const std::string path =
      name.ends_with(".toml") ? name : HomeFolder() + "/data/pricing/" + name + ".toml";
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WT_ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, path));
  Pricing pricing;
  WT_RETURN_IF_ERROR(ReadPricing(file, &pricing).WithContext(path));
  return pricing;
}

}  // namespace wt::price
