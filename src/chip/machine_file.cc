#include "chip/machine_file.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/text_util.h"

namespace wt::chip {
namespace {

template <class Id>
std::vector<std::string> Names(std::string_view (*name)(Id)) {
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(Id::kCount); ++i) names.emplace_back(name(Id(i)));
  return names;
}

const std::vector<std::string>& LawNames() {
  static const auto names = Names<LawId>(LawName);
  return names;
}
const std::vector<std::string>& ConstantNames() {
  static const auto names = Names<ConstantId>(ConstantName);
  return names;
}
const std::vector<std::string>& FunctionNames() {
  static const auto names =
      Names<Activation>([](Activation id) { return std::string_view(ActivationName(id)); });
  return names;
}

}  // namespace

Status MachineFile::Read(const std::string& path) {
  std::string text;
  WT_ASSIGN_OR_RETURN(const auto files, ReadInherited(path, &text));
  for (const toml::table& file : files) {
    MarkInherited();
    WT_RETURN_IF_ERROR(ReadTop(file).WithContext(path));
  }
  machine_->hash = Sha256(text);
  return CheckComplete().WithContext(path);
}

// What holds for another chip was not measured on this one.
void MachineFile::MarkInherited() {
  const auto mark = [](Origin& origin) {
    if (origin.evidence < Evidence::kDerived) origin.evidence = Evidence::kDerived;
  };
  for (Law& law : machine_->laws) mark(law.origin);
  for (Constant& constant : machine_->constants) mark(constant.origin);
  for (ActivationRule& rule : machine_->activations) mark(rule.origin);
  for (StartRule& rule : machine_->start_rules) mark(rule.origin);
  for (Constant& constant : machine_->inventory) mark(constant.origin);
}

Status MachineFile::ReadTop(const toml::table& file) {
  WT_RETURN_IF_ERROR(machine_->sources.Read(file));  // first: rows are checked against them
  for (const auto& [key, node] : file) {
    const std::string name(key.str());
    if (name == "sources" || name == "inherits") continue;
    if (name == "name") {
      machine_->name = node.value<std::string>().value_or("");
    } else if (name == "generation") {
      machine_->generation = Generation(node.value<int>().value_or(0));
    } else if (name == "start_partitions") {
      WT_RETURN_IF_ERROR(ReadStartRules(node));
    } else if (!node.is_table()) {
      return NotARow(name);
    } else if (name == "law") {
      WT_RETURN_IF_ERROR(ReadLaws(*node.as_table()));
    } else if (name == "activation") {
      WT_RETURN_IF_ERROR(ReadActivations(*node.as_table()));
    } else if (name == "inventory") {
      WT_RETURN_IF_ERROR(ReadInventory(*node.as_table()));
    } else {
      WT_RETURN_IF_ERROR(ReadConstants(name, *node.as_table()));
    }
  }
  return {};
}

Status MachineFile::ReadLaws(const toml::table& engines) {
  for (const auto& [engine, rows] : engines) {
    const std::string prefix = std::string(engine.str()) + ".";
    if (!rows.is_table()) return NotARow("law." + std::string(engine.str()));
    for (const auto& [key, row] : *rows.as_table()) {
      const std::string id = prefix + std::string(key.str());
      if (!row.is_table()) return NotARow("law." + id);
      WT_RETURN_IF_ERROR(ReadLaw(id, *row.as_table()));
    }
  }
  return {};
}

Status MachineFile::ReadLaw(const std::string& id, const toml::table& row) {
  WT_ASSIGN_OR_RETURN(const size_t index, FindName(id, LawNames(), "law"));
  Law law;
  law.id = id;
  TableReader reader(&row, "law." + id);
  const bool complete = reader.Has("fixed_ns") && reader.Has("cycles_per_element");
  reader.Get("fixed_ns", &law.fixed_ns);
  reader.Get("cycles_per_element", &law.cycles_per_element);
  reader.Get("min_cycles", &law.min_cycles);
  law.interval_fixed_ns = law.fixed_ns;
  law.interval_cycles_per_element = law.cycles_per_element;
  reader.Get("interval_fixed_ns", &law.interval_fixed_ns);
  reader.Get("interval_cycles_per_element", &law.interval_cycles_per_element);
  WT_ASSIGN_OR_RETURN(law.origin, machine_->sources.ReadOrigin(&reader, "law." + id));
  const double least = std::min({law.fixed_ns, law.cycles_per_element, law.min_cycles,
                                 law.interval_fixed_ns, law.interval_cycles_per_element});
  if (!complete || !(least >= 0)) {
    return Error(Code::kInvalidArgument,
                 "law.{}: fixed_ns and cycles_per_element are required, and no figure of a law may "
                 "be negative",
                 id);
  }
  machine_->laws[index] = std::move(law);
  return {};
}

Status MachineFile::ReadConstants(const std::string& section, const toml::table& table) {
  for (const auto& [key, node] : table) {
    Constant constant;
    constant.id = section + "." + std::string(key.str());
    WT_ASSIGN_OR_RETURN(const size_t index, FindName(constant.id, ConstantNames(), "constant"));
    if (!node.is_table()) return NotARow(constant.id);
    TableReader reader(node.as_table(), constant.id);
    constant.value = std::nan("");
    reader.Get("value", &constant.value);
    WT_ASSIGN_OR_RETURN(constant.origin, machine_->sources.ReadOrigin(&reader, constant.id));
    if (!(constant.value >= 0)) {
      return Error(Code::kInvalidArgument, "{}: expected a value that is not negative",
                   constant.id);
    }
    machine_->constants[index] = std::move(constant);
  }
  return {};
}

Status MachineFile::ReadInventory(const toml::table& table) {
  for (const auto& [key, node] : table) {
    Constant row;
    row.id = std::string(key.str());
    if (!node.is_table()) return NotARow("inventory." + row.id);
    TableReader reader(node.as_table(), "inventory." + row.id);
    reader.Get("value", &row.value);
    WT_ASSIGN_OR_RETURN(row.origin, machine_->sources.ReadOrigin(&reader, "inventory." + row.id));
    std::erase_if(machine_->inventory, [&](const Constant& old) { return old.id == row.id; });
    machine_->inventory.push_back(std::move(row));
  }
  return {};
}

Status MachineFile::ReadActivations(const toml::table& table) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!node.is_table()) return NotARow("activation." + name);
    WT_RETURN_IF_ERROR(ReadActivation(name, *node.as_table()));
  }
  return {};
}

Status MachineFile::ReadActivation(const std::string& name, const toml::table& row) {
  WT_ASSIGN_OR_RETURN(const size_t index, FindName(name, FunctionNames(), "function"));
  ActivationRule rule;
  std::string table_set, law = "activation", law_psum;
  TableReader reader(&row, "activation." + name);
  reader.Get("table_set", &table_set);
  reader.Get("law", &law);
  law_psum = law;
  reader.Get("law_psum", &law_psum);
  reader.Get("low", &rule.low);
  reader.Get("high", &rule.high);
  reader.Get("symmetric", &rule.symmetric);
  WT_ASSIGN_OR_RETURN(rule.origin, machine_->sources.ReadOrigin(&reader, "activation." + name));
  if (table_set.empty() || !(rule.low < rule.high)) {
    return Error(Code::kInvalidArgument, "activation.{}: expected a table_set, and low under high",
                 name);
  }
  WT_ASSIGN_OR_RETURN(const size_t law_index, FindName("scalar." + law, LawNames(), "law"));
  WT_ASSIGN_OR_RETURN(const size_t psum_index, FindName("scalar." + law_psum, LawNames(), "law"));
  rule.law = LawId(law_index);
  rule.law_psum = LawId(psum_index);
  auto& sets = machine_->table_sets;
  auto set = std::find(sets.begin(), sets.end(), table_set);
  if (set == sets.end()) set = sets.insert(set, table_set);
  rule.table_set = static_cast<int>(set - sets.begin());
  machine_->activations[index] = std::move(rule);
  return {};
}

Status MachineFile::ReadStartRules(const toml::node& node) {
  const toml::array* rows = node.as_array();
  if (!rows) return NotARow("start_partitions");
  machine_->start_rules.clear();
  for (const toml::node& row : *rows) {
    StartRule rule;
    TableReader reader(row.as_table(), "start_partitions");
    reader.Get("count", &rule.count);
    reader.Get("starts", &rule.starts);
    WT_ASSIGN_OR_RETURN(rule.origin, machine_->sources.ReadOrigin(&reader, "start_partitions"));
    machine_->start_rules.push_back(std::move(rule));
  }
  std::sort(machine_->start_rules.begin(), machine_->start_rules.end(),
            [](const StartRule& a, const StartRule& b) { return a.count < b.count; });
  return {};
}

Status MachineFile::CheckComplete() const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < kNumLaws; ++i) {
    if (machine_->laws[i].id.empty()) missing.push_back("law." + LawNames()[i]);
  }
  for (size_t i = 0; i < kNumConstants; ++i) {
    if (machine_->constants[i].id.empty()) missing.push_back(ConstantNames()[i]);
  }
  for (size_t i = 0; i < machine_->activations.size(); ++i) {
    if (machine_->activations[i].origin.source.empty()) {
      missing.push_back("activation." + FunctionNames()[i]);
    }
  }
  if (machine_->start_rules.empty()) missing.emplace_back("start_partitions");
  if (!missing.empty()) {
    return Error(Code::kInvalidArgument, "rows are missing: {}", Join(missing, ", "));
  }
  const auto generation = static_cast<int>(machine_->generation);
  if (machine_->name.empty() || generation < 2 || generation > 4) {
    return Error(Code::kInvalidArgument, "expected a name and a generation of 2, 3 or 4");
  }
  return {};
}

}  // namespace wt::chip
