// SPDX-License-Identifier: MIT
// ValuePlanner: which arguments and results of a module's functions a target is to copy, and how they are described.
//
// Usage: one per module; plan() returns what becomes penna_capture, penna_value and text of a patch plan.
// Invariant: what was requested by name and is not available is reported, with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penna/value_plan.h"
#include "symbols/dwarf/signature.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// What is wanted of one function.
struct WantedValues {
  std::vector<CapturedValue> arguments, results;            // as the user has spelled them
  bool arguments_by_type = false, results_by_type = false;  // those that debug information describes
  bool by_name = false;                                     // the user has named it: report why there are none
  bool callers = false;                                     // the stack from which it is called
  bool any() const { return callers || arguments_by_type || results_by_type || !arguments.empty() || !results.empty(); }
};

// `name`: demangled; `file`: the module's path.
using ValueRequests = std::function<WantedValues(const std::string& name, const std::string& file)>;

// A penna_capture under construction: addresses are of the file, and its values and text are its own.
struct PlannedCapture {
  uint64_t function = 0;
  uint8_t kind = PENNA_SITE_ARGUMENTS;
  uint32_t line = 0;
  std::vector<penna_value> values;
  std::string text;
};

// Values of a function that are not available.
struct RefusedValues {
  std::string name, reason;
};

struct PlannedValues {
  std::vector<PlannedCapture> captures;  // by function, then kind
  std::vector<RefusedValues> refused;
};

// `calls_hooks`: its functions report themselves, by calls (-finstrument-functions): only their stacks are available.
PlannedValues plan_values(const ElfFile& file, const std::string& path, const ValueRequests& requests,
                          bool calls_hooks);

// Appends `captures` to the parts of a plan, which are of processes' modules with this bias.
void append_captures(std::span<const PlannedCapture> captures, uint64_t bias, std::vector<penna_capture>* to,
                     std::vector<penna_value>* values, std::string* text);

}  // namespace penna
