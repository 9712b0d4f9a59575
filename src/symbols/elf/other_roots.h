// SPDX-License-Identifier: MIT
// OtherRoots: the root directories of recorded processes that see other files than we do, in containers.
//
// Why: a recorded path is the process's; here it names no file, or another one. And once the processes of a container
// have ended, nothing leads to its files any more.
// Invariant: holds a directory, never a file in it; a container's file system can be unmounted where it was mounted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/fd.h"

namespace penna {

// Thread-safe.
class OtherRoots {
 public:
  // Keeps its root directory, if that or what is mounted in it differs from ours, and the kernel lets us.
  void add(pid_t pid);
  // Directories; valid as long as this object.
  std::vector<std::string> paths() const;

 private:
  static constexpr size_t kMost = 32;  // descriptors
  struct Root {
    std::tuple<uint64_t, uint64_t, uint64_t> identity;  // device, inode, mount namespace
    Fd directory;
  };
  mutable std::mutex mutex_;
  std::vector<Root> roots_;
};

// `path` as a process with this root directory would open it, its links included; read-only. None: there is none, or
// the kernel is older than Linux 5.6.
Fd open_below(const std::string& root, const std::string& path);

}  // namespace penna
