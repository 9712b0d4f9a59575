// SPDX-License-Identifier: MIT
// See quiet_threads.h.
#include "collect/quiet_threads.h"

#include <dirent.h>
#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "collect/budget.h"
#include "penna/clock.h"

namespace penna {

void QuietThreads::look(uint32_t pid) {
  const std::string path = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = tasks ? ::readdir(tasks.get()) : nullptr) {
    uint32_t tid = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, tid).ptr != end || recorded_.count(tid) != 0) continue;
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
