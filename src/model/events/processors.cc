// SPDX-License-Identifier: MIT
// See processors.h.
#include "model/events/processors.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace penna {
namespace {

std::atomic<size_t> helping = 0;

}  // namespace

size_t usable_processors() {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) return std::max(1, CPU_COUNT(&usable));
  return std::max(1u, std::thread::hardware_concurrency());  // more than a cpu_set_t has room for
}

Helpers::Helpers(size_t wanted) {
  const size_t most = usable_processors() - 1;
  size_t busy = helping.load();
  do {
    count_ = std::min(wanted, most > busy ? most - busy : 0);
  } while (!helping.compare_exchange_weak(busy, busy + count_));
}
Helpers::~Helpers() { helping -= count_; }

void work_together(size_t workers, const std::function<void()>& work, const std::function<void()>& first) {
  const Helpers helpers(std::max<size_t>(workers, 1) - 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < helpers.count(); ++i) {
    try {
      threads.emplace_back(work);
    } catch (const std::system_error&) {  // none is available: other threads exist, and this one
      break;
    }
  }
  if (first) first();
  work();
  for (std::thread& one : threads) one.join();
}

}  // namespace penna
