// SPDX-License-Identifier: MIT
// penna ctl PID on|off PATTERN...: switches points of a running recording.
//
// PID is a recorded process (then only it), or the recorder (then all processes, and future programs).
#pragma once

#include "cli/options/arguments.h"

namespace penna {

struct CtlOptions {
  int pid = 0;
  bool on = false;
  bool stop = false;  // stops the recording instead
  // Not empty unless `stop`. They contain no white space: the control socket takes one request per line, with words
  // separated by spaces.
  std::vector<std::string> patterns;
};
Result<Parsed<CtlOptions>> parse_ctl(const Arguments& arguments);
// 0: done; 1: a pattern matches no point so far, but applies to libraries loaded later; 125: not done.
int cmd_ctl(const CtlOptions& options);

}  // namespace penna
