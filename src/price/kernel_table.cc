#include "price/kernel_table.h"

#include "base/files.h"
#include "base/home.h"
#include "base/text_util.h"
#include "base/toml_file.h"
#include "chip/origin.h"
#include "nn/op.h"

namespace wt::price {
namespace {

const std::vector<std::string> kLayoutNames = {"rows", "batch", "column", "whole", "at"};
const std::vector<std::string> kDerivedNames = {
    "",           "like0",         "rope_cos",     "rope_sin",
    "loss_share", "adamw_numbers", "muon_numbers", "muon_moment"};

size_t IndexIn(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// "in0 rows", "out1" (whole) or the name of something derived.
Result<KernelOperand> ParseOperand(const std::string& name, const std::string& text) {
  KernelOperand operand;
  operand.name = name;
  const size_t derived = IndexIn(kDerivedNames, text);
  if (derived > 0 && derived < kDerivedNames.size()) {
    operand.derived = static_cast<Derived>(derived);
    return operand;
  }
  const size_t space = text.find(' ');
  const std::string place = text.substr(0, space);
  const std::string layout = space == std::string::npos ? "whole" : text.substr(space + 1);
  operand.output = place.starts_with("out");
  const std::string number = place.substr(std::min<size_t>(place.size(), operand.output ? 3 : 2));
  const bool known = (operand.output || place.starts_with("in")) && number.size() == 1 &&
                     number[0] >= '0' && number[0] <= '9';
  const size_t kind = IndexIn(kLayoutNames, layout);
  if (!known || kind == kLayoutNames.size()) {
    return Error(Code::kInvalidArgument,
                 "{} is \"{}\"; expected inN or outN with one of {}, or one of {}",
                 name.empty() ? "gives" : name, text, Join(kLayoutNames, ", "),
                 Join({kDerivedNames.begin() + 1, kDerivedNames.end()}, ", "));
  }
  operand.index = static_cast<size_t>(number[0] - '0');
  operand.layout = static_cast<Layout>(kind);
  return operand;
}

Status ReadOperands(const toml::table& table, KernelRow* row) {
  if (const toml::table* args = table["args"].as_table()) {
    for (const auto& [name, node] : *args) {
      WT_ASSIGN_OR_RETURN(KernelOperand operand,
                          ParseOperand(std::string(name.str()), node.value_or(std::string())));
      row->args.push_back(std::move(operand));
    }
  }
  if (const toml::array* gives = table["gives"].as_array()) {
    for (const toml::node& node : *gives) {
      WT_ASSIGN_OR_RETURN(KernelOperand operand, ParseOperand("", node.value_or(std::string())));
      row->gives.push_back(std::move(operand));
    }
  }
  if (const toml::table* only = table["only"].as_table()) {
    for (const auto& [name, node] : *only) {
      row->only[std::string(name.str())] = node.value_or(int64_t{0});
    }
  }
  return {};
}

Result<KernelRow> ReadRow(const std::string& op, toml::table table) {
  KernelRow row;
  row.op = op;
  WT_RETURN_IF_ERROR(ReadOperands(table, &row));
  for (const char* key : {"args", "gives", "only"}) table.erase(key);
  TableReader reader(&table, op);
  reader.Get("kernel", &row.kernel);
  reader.Get("bounded", &row.bounded);
  reader.Get("score_limit", &row.score_limit);
  reader.Get("none", &row.none);
  reader.Get("attrs", &row.attrs);
  reader.Get("flags", &row.flags);
  reader.Get("kinds", &row.kinds);
  reader.Get("positive", &row.positive);
  WT_RETURN_IF_ERROR(reader.Finish());
  if (row.kernel.empty() != row.none.empty()) return row;
  return Error(Code::kInvalidArgument, "expected one of kernel and none");
}

}  // namespace

Result<KernelTable> KernelTable::Load(const std::string& path) {
  const std::string file = path.empty() ? HomeFolder() + "/data/kernels.toml" : path;
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  WT_ASSIGN_OR_RETURN(const toml::table rows, ParseToml(text, file));
  std::vector<std::string> ops;
  for (const nn::OpDef* op : nn::AllOps()) ops.emplace_back(op->name);
  KernelTable table;
  for (const auto& [key, node] : rows) {
    const std::string op(key.str());
    WT_RETURN_IF_ERROR(chip::FindName(op, ops, "op").status().WithContext(file));
    if (!node.is_table()) return chip::NotARow(op).WithContext(file);
    auto row = ReadRow(op, *node.as_table());
    if (!row.ok()) return row.status().WithContext(fmt::format("{}: [{}]", file, op));
    table.rows_.emplace(op, std::move(*row));
  }
  return table;
}

const KernelRow* KernelTable::Find(const std::string& op) const {
  const auto found = rows_.find(op);
  return found == rows_.end() ? nullptr : &found->second;
}

std::string KernelPath(const std::string& file) {
  if (FileExists(file)) return file;
  const std::string ours = HomeFolder() + "/kernels/" + file;
  return FileExists(ours) ? ours : file;
}

}  // namespace wt::price
