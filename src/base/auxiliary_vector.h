// SPDX-License-Identifier: MIT
// What the kernel passed to a process at exec (getauxval(3), proc_pid_auxv(5)).
//
// Invariant: what is read is untrusted; an absent value is 0.
#pragma once

#include <elf.h>
#include <sys/types.h>

#include <cstdint>
#include <cstring>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {

// `type`: AT_ENTRY and the like.
inline uint64_t auxiliary_value(pid_t pid, uint64_t type) {
  const auto auxv = read_file(in_proc(pid, "auxv"), 4096);
  for (size_t at = 0; auxv && at + sizeof(Elf64_auxv_t) <= auxv->size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, auxv->data() + at, sizeof entry);
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return 0;
}

}  // namespace penna
