#include "nki/platform.h"

#include <cstdlib>
#include <map>

#include "chip/machine_laws.h"
#include "nki/errors.h"
#include "nki/session.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

Result<std::string> MachineName(const std::string& platform) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"trn1", "trn1"}, {"inf2", "trn1"}, {"gen2", "trn1"}, {"trn2", "trn2"},
      {"gen3", "trn2"}, {"trn3", "trn3"}, {"gen4", "trn3"}};
  for (const auto& [name, file] : kNames) {
    if (platform == name) return std::string(file);
  }
  return chip::KernelError(
      ErrorClass::kArgument,
      "platform {}: not known; expected trn1 (gen2, inf2), trn2 (gen3) or trn3 "
      "(gen4) in NEURON_PLATFORM_TARGET_OVERRIDE",
      platform);
}

Result<std::shared_ptr<const chip::Machine>> MachineHere() {
  Session* session = Session::Current();
  if (session) return session->core().shared_machine();
  return MachineOfPlatform(PlatformOfEnvironment());
}

}  // namespace

std::string PlatformOfEnvironment() {
  const char* value = std::getenv("NEURON_PLATFORM_TARGET_OVERRIDE");
  return value && *value ? value : "trn2";
}

Result<std::shared_ptr<const chip::Machine>> MachineOfPlatform(const std::string& platform) {
  static std::map<std::string, std::shared_ptr<const chip::Machine>> loaded;
  WT_ASSIGN_OR_RETURN(const std::string name, MachineName(platform));
  std::shared_ptr<const chip::Machine>& machine = loaded[name];
  if (!machine) {
    WT_ASSIGN_OR_RETURN(machine, chip::Machine::Load(name));
  }
  return machine;
}

PyObject* MachineConstant(PyObject*, PyObject* name) {
  const std::string text(PyUnicode_Check(name) ? Utf8(name) : std::string_view());
  PyErr_Clear();
  const auto machine = MachineHere();
  if (!machine.ok()) return Raise(machine.status());
  if (text == "generation") return PyLong_FromLong(static_cast<int>((*machine)->generation));
  for (size_t i = 0; i < chip::kNumConstants; ++i) {
    const auto id = static_cast<chip::ConstantId>(i);
    const std::string_view full = chip::ConstantName(id);
    if (full != text && full.substr(full.find('.') + 1) != text) continue;
    const double value = (*machine)->constant(id);
    const auto whole = static_cast<long long>(value);
    return static_cast<double>(whole) == value ? PyLong_FromLongLong(whole)
                                               : PyFloat_FromDouble(value);
  }
  return RaiseKernelError(ErrorClass::kInternal, "the machine file has no {}", ReprOf(name));
}

}  // namespace wt::nki
