#include "chip/isa_doc.h"

#include <algorithm>

#include "base/text_util.h"
#include "chip/cost/rules.h"
#include "chip/error_class.h"
#include "chip/isa.h"

namespace wt::chip {
namespace {

// `|` would end a cell of a Markdown table.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::vector<const InstrDef*> ByName() {
  const auto all = AllInstrs();
  std::vector<const InstrDef*> defs(all.begin(), all.end());
  std::sort(defs.begin(), defs.end(), [](const InstrDef* a, const InstrDef* b) {
    return std::string_view(a->name) < b->name;
  });
  return defs;
}

std::string EnginesOf(const InstrDef& def) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumEngines; ++i) {
    if (def.engines.has(Engine(i))) names.emplace_back(EngineName(Engine(i)));
  }
  return Join(names, ", ");
}

const char* KindName(ParamKind kind) {
  switch (kind) {
    case ParamKind::kDst:
      return "tile written";
    case ParamKind::kDstRead:
      return "tile read and written";
    case ParamKind::kSrc:
      return "tile read";
    case ParamKind::kSrcOrFloat:
      return "number, or tile of one column";
    case ParamKind::kSrcs:
      return "tiles read";
    case ParamKind::kFloat:
      return "number";
    case ParamKind::kInt:
      return "integer";
    case ParamKind::kBool:
      return "truth value";
    case ParamKind::kAluOp:
      return "operation";
    case ParamKind::kActivation:
      return "function";
    case ParamKind::kEngine:
      return "engine";
    case ParamKind::kReduceCmd:
      return "reduce_cmd";
    case ParamKind::kDgeMode:
      return "dge_mode";
    case ParamKind::kOobMode:
      return "oob_mode";
    case ParamKind::kPerfMode:
      return "matmul_perf_mode";
    case ParamKind::kDmaEngine:
      return "dma_engine";
    case ParamKind::kInts:
      return "integers";
    case ParamKind::kPattern:
      return "[step, size] pairs";
    case ParamKind::kFloats:
      return "numbers";
    case ParamKind::kString:
      return "text";
  }
  return "";
}

bool IsTile(ParamKind kind) {
  return kind == ParamKind::kDst || kind == ParamKind::kDstRead || kind == ParamKind::kSrc ||
         kind == ParamKind::kSrcOrFloat || kind == ParamKind::kSrcs;
}

std::string MemoriesOf(const Param& param) {
  if (!IsTile(param.kind)) return "";
  std::vector<std::string> names;
  constexpr std::pair<uint8_t, Memory> kBits[] = {{kInSbuf, Memory::kSbuf},
                                                  {kInPsum, Memory::kPsum},
                                                  {kInHbm, Memory::kHbm},
                                                  {kInRegister, Memory::kRegister}};
  for (const auto& [bit, memory] : kBits) {
    if (param.memories & bit) names.emplace_back(MemoryName(memory));
  }
  return Join(names, ", ");
}

std::string TypesOf(const Param& param) {
  if (!IsTile(param.kind)) return "";
  std::vector<std::string> in, out;
  for (int i = 0; i < kNumDTypes; ++i) {
    (param.dtypes >> i & 1 ? in : out).emplace_back(DTypeName(DType(i)));
  }
  if (out.empty()) return "any";
  return out.size() < in.size() ? "any but " + Join(out, ", ") : Join(in, ", ");
}

std::string ParamsTable(const InstrDef& def) {
  std::string text =
      "| parameter | what | default | memories | element types |\n|---|---|---|---|---|\n";
  for (const Param& param : def.params) {
    if (param.kind == ParamKind::kString) continue;
    const std::string fallback =
        param.default_value ? fmt::format("`{}`", param.default_value) : "required";
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", param.name, KindName(param.kind),
                        Cell(fallback), MemoriesOf(param), TypesOf(param));
  }
  return text;
}

// "160.5 + 0.5207 N"
std::string Line(double fixed, double slope) {
  return slope > 0 ? fmt::format("{:.4g} + {:.4g} N", fixed, slope) : fmt::format("{:.4g}", fixed);
}

std::string Formula(const Law& law) {
  std::string text = Line(law.fixed_ns, law.ns_per_element) + " ns";
  const bool own =
      law.interval_fixed_ns != law.fixed_ns || law.interval_ns_per_element != law.ns_per_element;
  if (own) {
    text += fmt::format("; engine taken {} ns",
                        Line(law.interval_fixed_ns, law.interval_ns_per_element));
  }
  if (law.min_ns > 0) text += fmt::format(", at least {:.4g}", law.min_ns);
  return text;
}

std::string CostOf(const Machine& machine, const InstrDef& def) {
  const cost::CostRule* rule = cost::FindCostRule(def.name);
  if (!rule) return "";
  std::string text = fmt::format("Time. {}\n", rule->text);
  if (!rule->laws.empty() || !rule->constants.empty()) text += "\n";
  for (const LawId id : rule->laws) {
    const Law& law = machine.law(id);
    text +=
        fmt::format("* `{}`: {} ({})\n", law.id, Formula(law), EvidenceName(law.origin.evidence));
  }
  for (const ConstantId id : rule->constants) {
    text += fmt::format("* `{}` = {:g} ({})\n", ConstantName(id), machine.constant(id),
                        EvidenceName(machine.origin(id).evidence));
  }
  return text;
}

std::string EvidenceOf(const Machine& machine, const InstrDef& def) {
  const cost::CostRule* rule = cost::FindCostRule(def.name);
  std::vector<std::string> names;
  const auto add = [&](Evidence evidence) {
    const std::string name = EvidenceName(evidence);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (rule) {
    for (const LawId id : rule->laws) add(machine.law(id).origin.evidence);
    if (rule->laws.empty()) {
      for (const ConstantId id : rule->constants) add(machine.origin(id).evidence);
    }
  }
  return names.empty() ? "none" : Join(names, ", ");
}

const char* SinceName(Generation since) {
  return since == Generation::kGen4 ? "trn3" : since == Generation::kGen3 ? "trn2, trn3" : "all";
}

std::string Overview(const Machine& machine) {
  std::string text =
      "| instruction | engines | chips | values | time rests on figures |\n|---|---|---|---|---|\n";
  for (const InstrDef* def : ByName()) {
    text +=
        fmt::format("| [`{}`](#{}) | {} | {} | {} | {} |\n", def->name, def->name, EnginesOf(*def),
                    SinceName(def->since), def->execute ? "yes" : "no", EvidenceOf(machine, *def));
  }
  return text;
}

std::string Section(const Machine& machine, const InstrDef& def) {
  const bool choice = def.default_engine == Engine::kUnknown && !def.engines.empty();
  const std::string engine =
      choice ? "the tool-chain preset chooses when the kernel names none"
             : fmt::format("{} when the kernel names none", EngineName(def.default_engine));
  return fmt::format("\n### {}\n\n{}\n\nEngines: {}; {}. Chips: {}.\n\n{}\n{}", def.name,
                     def.summary, EnginesOf(def), engine, SinceName(def.since), ParamsTable(def),
                     CostOf(machine, def));
}

std::string LawsTable(const Machine& machine) {
  std::string text =
      "| law | from start to result | evidence | source | note |\n|---|---|---|---|---|\n";
  for (const Law& law : machine.laws) {
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", law.id, Formula(law),
                    EvidenceName(law.origin.evidence), law.origin.source, Cell(law.origin.note));
  }
  return text;
}

std::string ConstantsTable(const Machine& machine) {
  std::string text = "| constant | value | evidence | source | note |\n|---|---|---|---|---|\n";
  for (const Constant& constant : machine.constants) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", constant.id, constant.value,
                        EvidenceName(constant.origin.evidence), constant.origin.source,
                        Cell(constant.origin.note));
  }
  return text;
}

std::string Range(const ActivationRule& rule) {
  if (std::isinf(rule.low) && std::isinf(rule.high)) return "any";
  return fmt::format("{}{:.4g} to {:.4g}", rule.symmetric ? "magnitude " : "", rule.low, rule.high);
}

std::string FunctionsTable(const Machine& machine) {
  std::string text =
      "| function | table set | law | valid arguments | evidence |\n|---|---|---|---|---|\n";
  for (int i = 0; i < static_cast<int>(Activation::kCount); ++i) {
    const ActivationRule& rule = machine.activation(Activation(i));
    std::string law = fmt::format("`{}`", LawName(rule.law));
    if (rule.law_psum != rule.law) law += fmt::format("; from PSUM `{}`", LawName(rule.law_psum));
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", ActivationName(Activation(i)),
                        machine.table_set_name(rule.table_set), law, Range(rule),
                        EvidenceName(rule.origin.evidence));
  }
  return text;
}

std::string SourcesTable(const Machine& machine) {
  std::string text = "| tag | source |\n|---|---|\n";
  for (const auto& [tag, source] : machine.sources.rows()) {
    text += fmt::format("| {} | {} |\n", tag, Cell(source));
  }
  return text;
}

}  // namespace

std::string IsaMarkdown(const Machine& machine) {
  std::string text = fmt::format(
      "# The instruction set\n\n"
      "Every instruction of `nki.isa` that the simulator executes, with values and with time. This "
      "page is made from the\ninstruction table in `src/chip/isa/`, the cost rules in "
      "`src/chip/cost/` and `data/chips/{}.toml`; a test holds them\ntogether. Names and "
      "parameters are those of NKI 0.6; every instruction also takes `name=`. Times are {}'s; N is "
      "the\nnumber of elements of one partition. `bench/instruction_laws` compares them with "
      "measured instructions.\n\n"
      "A figure is *measured* on real hardware, *published* by AWS, *derived* from such figures, "
      "or *guessed* where nobody has\nsaid anything. A law gives the time from start to result, "
      "which is also how long the engine is taken unless the law says\notherwise. Steps of the "
      "innermost dimension beyond {:g} bytes slow any law's N term, up to {:.3g} times from {:g} "
      "bytes on.\n\n",
      machine.name, machine.name, machine.constant(ConstantId::kStrideRampBegin),
      1 + machine.constant(ConstantId::kStrideRampExtra),
      machine.constant(ConstantId::kStrideRampEnd));
  text += Overview(machine) + "\n## Instructions\n";
  for (const InstrDef* def : ByName()) text += Section(machine, *def);
  text += "\n## Functions of the Scalar engine\n\n" + FunctionsTable(machine);
  text += "\n## Laws of time\n\n" + LawsTable(machine);
  text += "\n## Constants\n\n" + ConstantsTable(machine);
  text += "\n## Sources\n\n" + SourcesTable(machine);
  return text;
}

std::string ErrorsMarkdown() {
  std::string text =
      "# What can be wrong with a kernel\n\n"
      "Every refusal of the simulator belongs to one of these classes; its name stands in brackets "
      "at the head of the message.\nThis page is made from the table in `src/chip/error_class.cc`; "
      "a test holds the two together.\n\n"
      "| class | what is wrong | what to do |\n|---|---|---|\n";
  for (const ErrorClassRow& row : ErrorClasses()) {
    text += fmt::format("| `{}` | {} | {} |\n", row.name, Cell(row.meaning), Cell(row.advice));
  }
  return text;
}

}  // namespace wt::chip
