// Arguments of instructions: Python objects to chip::Arg by a parameter's kind.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "chip/isa.h"
#include "nki/session.h"

namespace wt::nki {

// Holds the tensors of list arguments until the instruction has been issued: reading later
// arguments can run Python code, which can change the lists.
using ListItems = std::vector<Ref>;

// Fills one argument of an instruction and its operands. False with an exception set: anything may
// be passed for anything.
bool ReadArg(const chip::InstrDef& def, size_t param, PyObject* object, chip::Instr* instr,
             ListItems* lists);

// What Param::default_value says, for arguments not given. None and () are Arg::kNone. False: the
// text means nothing for this kind (a mistake in the table).
bool DefaultArg(const chip::Param& param, chip::Arg* arg);

// "nc_matmul: moving"
std::string ArgName(const chip::InstrDef& def, size_t param);

}  // namespace wt::nki
