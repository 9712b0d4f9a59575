// SPDX-License-Identifier: MIT
// See other_roots.h. References: openat2(2), RESOLVE_IN_ROOT; proc_pid_root(5).
#include "symbols/elf/other_roots.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/in_proc.h"

namespace penna {
namespace {

using Identity = std::tuple<uint64_t, uint64_t, uint64_t>;

// All zero: not to be examined.
Identity identity_of(const std::string& root, const std::string& mounts) {
  struct stat directory = {}, names = {};
  if (::stat(root.c_str(), &directory) != 0 || ::stat(mounts.c_str(), &names) != 0) return {};
  return {directory.st_dev, directory.st_ino, names.st_ino};
}

}  // namespace

void OtherRoots::add(pid_t pid) {
  static const Identity ours = identity_of("/", "/proc/self/ns/mnt");
  const std::string root = in_proc(pid, "root");
  const Identity its = identity_of(root, in_proc(pid, "ns/mnt"));
  if (its == Identity{} || its == ours) return;
  const std::lock_guard hold(mutex_);
  const bool is_known = std::any_of(roots_.begin(), roots_.end(), [&](const Root& one) { return one.identity == its; });
  if (is_known || roots_.size() == kMost) return;
  Fd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory) roots_.push_back({its, std::move(directory)});
}

std::vector<std::string> OtherRoots::paths() const {
  const std::lock_guard hold(mutex_);
  std::vector<std::string> paths;
  for (const Root& one : roots_) paths.push_back(fmt::format("/proc/self/fd/{}", one.directory.get()));
  return paths;
}

Fd open_below(const std::string& root, const std::string& path) {
  const Fd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  // O_NONBLOCK: it may be a fifo, and opening it must not wait for a writer.
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(::syscall(SYS_openat2, directory.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace penna
