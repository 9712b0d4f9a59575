// SPDX-License-Identifier: MIT
// The file that a word of the command line names.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The path of a program as a shell would find it; empty when there is none.
std::string find_program(const std::string& name);
// The path of a file or program that was named on the command line; empty when there is none, and what to say then.
std::string program_path(const std::string& word);
Error no_such_program(const std::string& word);

}  // namespace penna
