// Reads data/chips/NAME.toml row by row into a Machine. Every row says where it comes from; unknown
// names, missing rows and unknown source tags are errors. Used by machine.cc alone.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "base/toml_file.h"
#include "chip/machine.h"

namespace wt::chip {

class MachineFile {
 public:
  explicit MachineFile(Machine* machine) : machine_(machine) {}

  // Reads `path` over what it inherits, then checks that nothing is missing.
  Status Read(const std::string& path);

 private:
  Status ReadTop(const toml::table& file);
  Status ReadLaws(const toml::table& engines);
  Status ReadLaw(const std::string& id, const toml::table& row);
  Status ReadConstants(const std::string& section, const toml::table& table);
  Status ReadActivations(const toml::table& table);
  Status ReadActivation(const std::string& name, const toml::table& row);
  Status ReadInventory(const toml::table& table);
  Status ReadStartRules(const toml::node& node);
  Status CheckComplete() const;
  void MarkInherited();

  Machine* machine_;
};

}  // namespace wt::chip
