// SPDX-License-Identifier: MIT
// The code that records a probe of another header: the target of the jump next to its nop, in memory near its module.
//
//   +-------------+----------------------+----------------------------+---------------------+-----------+
//   | penna_probe | before: moved code   | keep registers, reserve,   | after: moved code   | jump back |
//   |             |                      | store arguments, restore   |                     |           |
//   +-------------+----------------------+----------------------------+---------------------+-----------+
//
// Why generated: an argument is wherever the note says, in one of 16 registers or in memory that one points to; so a
// hit costs what a point of penna/point.h costs, plus 5 more registers that are saved.
// Invariant: the interrupted function loses nothing: no register, no flag, nothing of its red zone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penna/patch_plan.h"
#include "plan/detour.h"
#include "plan/near_memory.h"
#include "plan/probe_operand.h"

namespace penna {

struct ProbeArgument {
  std::string name;
  ProbeOperand operand;
  bool is_text = false;                // its value is the address of a string, or null
  std::optional<ProbeOperand> length;  // of the string, in bytes; without one it ends with a zero byte
};

// A probe as it is planned.
struct PlannedProbe {
  std::string provider, name;
  uint64_t semaphore = 0;  // ELF virtual address; 0: none
  ProbeSite site;
  std::vector<ProbeArgument> arguments;
};

// Appends the stub to near memory, whose hook is penna_point_entries.reserve. `values`: penna_point_entries.values;
// `bias`: run-time address - address in the file. Nothing: there is no room, or what the moved code refers to is out of
// reach.
std::optional<penna_patch> patch_probe(const PlannedProbe& probe, uint64_t bias, uint64_t values, NearMemory* near);

}  // namespace penna
