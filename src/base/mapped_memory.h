// SPDX-License-Identifier: MIT
// Which of Penna's memory another process has mapped.
//
// Why by inode number: any process can give its memfd the name that /proc/PID/maps shows; the inode number is unique.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/remote_ptr.h"

namespace penna {

// `name`: as passed to memfd_create(2). Also false for a process that is gone, or may not be inspected.
bool has_mapped(uint32_t pid, const char* name, ino_t inode);

// The first mapping of this name, by any creator, from its beginning.
struct MappedMemfd {
  RemoteBytes start;
  ino_t inode = 0;
};
std::optional<MappedMemfd> find_mapped(uint32_t pid, const char* name);

}  // namespace penna
