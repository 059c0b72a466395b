// Arguments of instructions: Python objects to chip::Arg by a parameter's kind.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "chip/isa.h"
#include "nki/session.h"

namespace wt::nki {

// Fills one argument of an instruction, with its operands and roles. False with an exception set:
// anything may be passed for anything.
bool ReadArg(const chip::InstrDef& def, size_t param, PyObject* object, chip::Instr* instr);

// What Param::default_value says, for arguments not given. None and () are Arg::kNone. False: the
// text means nothing for this kind (a mistake in the table).
bool DefaultArg(const chip::Param& param, chip::Arg* arg);

// "nc_matmul: moving"
std::string ArgName(const chip::InstrDef& def, size_t param);

}  // namespace wt::nki
