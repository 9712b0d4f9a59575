// SPDX-License-Identifier: MIT
// Names that completion offers besides penna's own words: processes, functions, points.
//
// Invariant: an unreadable source gives no names and no message, because a command line is being typed.
#pragma once

#include <string>
#include <vector>

namespace penna {

struct NamedProcess {
  std::string pid, name;
};
// This user's processes.
std::vector<NamedProcess> own_processes();

// Functions whose names begin with `beginning`, without their parameters; a few thousand at most. `program`: as a shell
// finds it.
std::vector<std::string> functions_of_program(const std::string& program, const std::string& beginning);
// From the programs of a recording; "": the newest one here.
std::vector<std::string> functions_of_recording(const std::string& recording, const std::string& beginning);

// "PROVIDER:NAME" of each.
std::vector<std::string> points_of_program(const std::string& program);

}  // namespace penna
