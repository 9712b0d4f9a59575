// SPDX-License-Identifier: MIT
// See opening.h.
#include "agent/opening.h"

#include <sys/single_threaded.h>
#include <sys/stat.h>

#include "agent/allocators.h"
#include "agent/call_filters.h"
#include "agent/linker_turns.h"
#include "agent/loader.h"
#include "agent/lock_calls.h"
#include "agent/modules.h"
#include "agent/probes.h"
#include "agent/state.h"
#include "agent/sys.h"

namespace penna::agent {
namespace {

bool allocators_wanted, locks_wanted, probes_wanted;
uint64_t threads_before;  // as counted before the first of the calls of dlopen began that go on

// 0: /proc does not say.
uint64_t count_threads() {
  if (__libc_single_threaded != 0) return 1;
  struct stat tasks {};  // the kernel fills it
  const long error = sys(SYS_stat, reinterpret_cast<long>("/proc/self/task"), reinterpret_cast<long>(&tasks));
  return error == 0 && tasks.st_nlink > 2 ? tasks.st_nlink - 2 : 0;
}

void enter_new(void* opened, penna_unless unless) {
  visit_new_modules(ModuleVisitor::kEntering, opened, [=](const NewModules& modules) {
    if (allocators_wanted) enter_allocators(modules, unless);
    if (locks_wanted) enter_lock_functions(modules, unless);
    if (probes_wanted) enter_probes(modules, unless);
    return true;
  });
}

bool enters_now() {
  const uint32_t classes = (allocators_wanted ? class_bit(PENNA_ALLOC) : 0) |
                           (locks_wanted ? class_bit(PENNA_LOCKS) : 0) | (probes_wanted ? class_bit(PENNA_POINTS) : 0);
  return (armed() & classes) != 0 && (call_refusals & kRefusesCode) == 0;
}

}  // namespace

void enter_functions(const penna_config& config, bool forked) {
  allocators_wanted = start_allocators(config, forked);
  locks_wanted = start_lock_functions(config);
  probes_wanted = start_probes(config, forked);
  if ((allocators_wanted || locks_wanted || probes_wanted) && !forked)
    enter_new(nullptr, __libc_single_threaded != 0 ? PENNA_UNLESS_NOTHING : PENNA_UNLESS_RUNNING);
}

// What another thread has opened, and nobody has looked at, may be in use, unless its dlopen has not returned. Then a thread may be at work
// in it if it was started since that began: counted from where the first began of those that go on, in this thread, too.
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

// A thread that was started meanwhile may be that of a constructor.
void Opening::enter(void* opened) const {
  if (!enters_now()) return;
  const uint64_t threads = count_threads();
  const bool others = threads != 1 && (threads_ == 0 || threads > threads_);
  find_new_modules();
  enter_new(opened, others ? PENNA_UNLESS_RUNNING : PENNA_UNLESS_NOTHING);
  wait_for_visits(ModuleVisitor::kEntering, opened);
}

}  // namespace penna::agent
