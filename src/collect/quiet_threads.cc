// SPDX-License-Identifier: MIT
// See quiet_threads.h.
#include "collect/quiet_threads.h"

#include <fmt/core.h>

#include "base/directory.h"
#include "base/file.h"
#include "collect/budget.h"
#include "penna/clock.h"

namespace penna {

void QuietThreads::look(uint32_t pid) {
  const std::string path = fmt::format("/proc/{}/task", pid);
  for (const pid_t thread : numbers_in(path)) {
    const auto tid = static_cast<uint32_t>(thread);
    if (recorded_.count(tid) != 0) continue;
    const auto found = seen_.find(tid);
    if (found == seen_.end() && seen_.size() >= Budget::kThreads) return;
    Result<std::string> name = read_file(fmt::format("{}/{}/comm", path, tid), 64);
    if (!name) continue;  // it has just ended
    if (!name->empty() && name->back() == '\n') name->pop_back();
    Seen& seen = found == seen_.end() ? seen_[tid] : found->second;
    if (seen.ticks == 0) seen.ticks = penna_now();
    if (!name->empty()) seen.name = std::move(*name);
  }
}

void QuietThreads::has_recorded(uint32_t tid) {
  if (recorded_.size() >= Budget::kThreads || !recorded_.insert(tid).second) return;
  seen_.erase(tid);
}

std::vector<Thread> QuietThreads::all() const {
  std::vector<Thread> threads;
  for (const auto& [tid, seen] : seen_)
    threads.push_back({kFirstSerial + static_cast<uint32_t>(threads.size()), tid, seen.name, seen.ticks});
  return threads;
}

}  // namespace penna
