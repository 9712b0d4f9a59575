// SPDX-License-Identifier: MIT
// See process_parents.h.
#include "recording/process_parents.h"

#include <map>

#include "recording/reader.h"

namespace penna {

std::vector<uint32_t> process_parents(const Recording& recording) {
  const auto processes = recording.processes();
  std::vector<uint32_t> parents(processes.size(), UINT32_MAX);
  std::map<uint32_t, uint32_t> latest;  // by pid: the last process before this one
  for (uint32_t i = 0; i < processes.size(); ++i) {
    const Process& process = processes[i].process;
    auto found = latest.find(process.after_exec ? process.pid : process.parent_pid);
    if (processes[i].announced && found != latest.end()) parents[i] = found->second;
    // Forked just before its parent called exec, but reported after.
    while (!process.after_exec && parents[i] != UINT32_MAX && processes[parents[i]].process.after_exec &&
           processes[parents[i]].process.start_ticks > process.start_ticks)
      parents[i] = parents[parents[i]];
    if (processes[i].announced) latest[process.pid] = i;
  }
  return parents;
}

}  // namespace penna
