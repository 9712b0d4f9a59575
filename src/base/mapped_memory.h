// SPDX-License-Identifier: MIT
// Which memory of ours another process has mapped.
//
// Why by the number of its inode: what /proc/PID/maps calls a memfd anybody may call his own; the number nobody else
// has.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/remote_ptr.h"

namespace penna {

// `name`: as given to memfd_create(2). False also of a process that is gone, or may not be looked at.
bool has_mapped(uint32_t pid, const char* name, ino_t inode);

// The first of this name, whoever has made it, from its beginning on.
struct MappedMemfd {
  RemoteBytes start;
  ino_t inode = 0;
};
std::optional<MappedMemfd> find_mapped(uint32_t pid, const char* name);

}  // namespace penna
