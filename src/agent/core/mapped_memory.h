// SPDX-License-Identifier: MIT
// Memory that is mapped for the length of a scope: neither the target's heap nor its stack.
//
// Invariant: at() is null, or `bytes` bytes that are mapped as long as the object lives.
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "agent/core/sys.h"

namespace penna::agent {

class MappedMemory {
 public:
  // Like mmap(2). A negative `fd` without MAP_ANONYMOUS maps nothing.
  MappedMemory(uint64_t bytes, int protection, int flags, long fd = -1) : bytes_(bytes) {
    const long got = sys(SYS_mmap, 0, static_cast<long>(bytes), protection, flags, fd, 0);
    if (!sys_failed(got)) at_ = reinterpret_cast<uint8_t*>(got);
  }
  ~MappedMemory() {
    if (at_ != nullptr) sys(SYS_munmap, reinterpret_cast<long>(at_), static_cast<long>(bytes_));
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  uint8_t* at() const { return at_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint8_t* at_ = nullptr;
  uint64_t bytes_;
};

}  // namespace penna::agent
