// The enumerations of nki.isa as the instruction table knows them. The Python package declares them
// as ordinary Enums and registers them here; members are then recognised by address.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "chip/isa.h"

namespace wt::nki {

// Remembers the members of a Python enum: "engine", "dge_mode", … False with an exception set.
bool RegisterEnum(const char* name, PyObject* enum_class);

// The value that Instr's Arg carries for a member; false with an exception naming `what`.
bool ParseEnum(chip::ParamKind kind, PyObject* object, const std::string& what, int64_t* value);
// Likewise of a name, as in Param::default_value ("reset_reduce", "engine.unknown").
bool EnumValueByName(chip::ParamKind kind, std::string_view name, int64_t* value);

// Operations: the callables of nki.language, and NumPy's functions of the same name.
bool RegisterOp(PyObject* callable, const char* name);
bool ParseAluOp(PyObject* object, const std::string& what, int64_t* value);
bool ParseActivation(PyObject* object, const std::string& what, int64_t* value);
bool AluOpByName(std::string_view name, int64_t* value);
bool ActivationByName(std::string_view name, int64_t* value);

}  // namespace wt::nki
