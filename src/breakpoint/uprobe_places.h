// SPDX-License-Identifier: MIT
// Where uprobes go in a file: where its plan has places, and where the functions of that plan return.
//
// Invariant: addresses are the file's. What uprobes cannot see in time is refused with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "breakpoint/traced_functions.h"
#include "breakpoint/uprobe_ring.h"

namespace penna {

struct UprobePlaces {
  std::vector<PlannedPlace> entries;
  std::vector<uint64_t> returns;               // of their functions: a `ret` each
  std::vector<UprobePlace> in_file;            // of both, each once; and return probes where entries are
  std::vector<uint64_t> addresses;             // of in_file
  std::vector<uint64_t> semaphores;            // that the kernel increments
  std::map<std::string, std::string> refused;  // names, and why
};

// `with_free_stacks`: frees get a stack, too.
UprobePlaces find_uprobe_places(const ElfFile& file, const FilePlan& plan, bool with_free_stacks);

}  // namespace penna
