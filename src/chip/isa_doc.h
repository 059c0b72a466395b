// Pages made from tables: docs/ISA.md from the instruction table and a machine file, docs/ERRORS.md
// from the error classes. isa_doc_test.cc holds pages and tables together.
#pragma once

#include <string>

#include "chip/machine.h"

namespace wt::chip {

std::string IsaMarkdown(const Machine& machine);
std::string ErrorsMarkdown();

}  // namespace wt::chip
