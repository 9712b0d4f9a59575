// SPDX-License-Identifier: MIT
// The file that a word of the command line names.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The path of a program as a shell would find it; empty if there is none.
std::string find_program(const std::string& name);
// The path of a file or program named on the command line; empty if there is none, and the error for that case.
std::string program_path(const std::string& word);
Error no_such_program(const std::string& word);

}  // namespace penna
