// SPDX-License-Identifier: MIT
// See opening.h.
#include "agent/modules/opening.h"

#include <sys/single_threaded.h>
#include <sys/stat.h>

#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/state.h"
#include "agent/core/sys.h"
#include "agent/modules/linker_turns.h"
#include "agent/modules/module_subscriber.h"
#include "agent/modules/modules.h"
#include "agent/modules/new_modules.h"

namespace penna::agent {
namespace {

uint32_t wanted;          // bit i: module_subscribers[i] is notified of new modules
uint64_t threads_before;  // the number of threads before the earliest dlopen that is still under way

// 0: /proc cannot be read.
uint64_t count_threads() {
  if (__libc_single_threaded != 0) return 1;
  struct stat tasks {};  // the kernel fills it
  const long error = sys(SYS_stat, reinterpret_cast<long>("/proc/self/task"), reinterpret_cast<long>(&tasks));
  return error == 0 && tasks.st_nlink > 2 ? tasks.st_nlink - 2 : 0;
}

bool is_wanted(uint32_t subscriber) { return (wanted >> subscriber & 1) != 0; }

void enter_new(void* opened, penna_unless unless) {
  visit_new_modules(ModuleVisitor::kEntering, opened, [=](const NewModules& modules) {
    for (uint32_t i = 0; i < kModuleSubscribers; ++i)
      if (is_wanted(i)) module_subscribers[i].on_new(modules, unless);
    return true;
  });
}

bool enters_now() {
  uint32_t classes = 0;
  for (uint32_t i = 0; i < kModuleSubscribers; ++i)
    if (is_wanted(i)) classes |= module_subscribers[i].classes;
  return (armed() & classes) != 0 && (call_refusals & kRefusesCode) == 0;
}

}  // namespace

void enter_functions(const penna_config& config, bool forked) {
  uint32_t want = 0;
  for (uint32_t i = 0; i < kModuleSubscribers; ++i)
    if (const auto start = module_subscribers[i].start; start != nullptr && start(config, forked)) want |= 1u << i;
  wanted = want;
  if (wanted != 0 && !forked) enter_new(nullptr, may_write_freely() ? PENNA_UNLESS_NOTHING : PENNA_UNLESS_RUNNING);
}

// Modules that another thread has opened, and that were not visited, may be in use, unless that dlopen has not returned
// yet. Even then a thread that was started since it began may be using them. So threads are counted from the start of
// the earliest dlopen that is still under way, including this thread's.
Opening Opening::begin() {
  Opening now;
  if (!enters_now()) return now;
  now.threads_ = count_threads();
  if (anyone_in_linker()) {
    now.threads_ = __atomic_load_n(&threads_before, __ATOMIC_RELAXED);
    return now;
  }
  __atomic_store_n(&threads_before, now.threads_, __ATOMIC_RELAXED);
  if (now.threads_ == 1) return now;
  find_new_modules();
  enter_new(nullptr, PENNA_UNLESS_RUNNING);
  return now;
}

// A thread that was started meanwhile may be a constructor's.
void Opening::enter(void* opened) const {
  if (!enters_now()) return;
  const uint64_t threads = count_threads();
  const bool others = threads != 1 && (threads_ == 0 || threads > threads_);
  find_new_modules();
  enter_new(opened, others ? PENNA_UNLESS_RUNNING : PENNA_UNLESS_NOTHING);
  wait_for_visits(ModuleVisitor::kEntering, opened);
}

}  // namespace penna::agent
