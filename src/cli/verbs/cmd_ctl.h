// SPDX-License-Identifier: MIT
// penna ctl PID on|off: switches points, or kinds of event, of a running recording.
//
// PID is a recorded process (then only it), or the recorder (then all processes, and future programs).
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"
#include "reach/control/control_client.h"

namespace penna {

struct CtlOptions {
  int pid = 0;
  bool on = false;
  bool stop = false, snapshot = false;  // of the whole recording, instead
  std::vector<std::string> kinds;       // likewise: "calls", "alloc", "locks"
  std::vector<SetFilter> filters;       // likewise
  // Not empty unless one of these. No white space in them: the control socket takes a request a line, its
  // words separated by spaces.
  std::vector<std::string> patterns;
};
Result<Parsed<CtlOptions>> parse_ctl(const Arguments& arguments);
// 0: done; 1: a pattern matches no point so far, but applies to libraries loaded later; 125: not done.
int cmd_ctl(const CtlOptions& options);

}  // namespace penna
