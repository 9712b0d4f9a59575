// SPDX-License-Identifier: MIT
// See libc_functions.h.
#include "agent/hooks/libc_functions.h"

#include "agent/core/attachment.h"
#include "agent/core/state.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/real.h"
#include "agent/patch/call_patches.h"
#include "agent/standalone/standalone.h"

extern "C" {  // hooks, which no header declares
void __longjmp_chk(__jmp_buf_tag*, int);
int _Unwind_Backtrace(penna::agent::OnFrame, void*);
}

namespace penna::agent {
namespace {

struct LibcFunction {
  Instead entered;
  uintptr_t* real;
};

// Per library. Functions beyond that are not patched, so the lists below must stay shorter.
constexpr uint32_t kMost = 96;

struct LibcFunctions {
  LibcFunction list[kMost];
  uint32_t count = 0;

  // Functions that this libc does not have are 0 in `real`, and left out.
  template <typename Function>
  void add(const char* name, Function* hook, Function*& real) {
    auto* const where = reinterpret_cast<uintptr_t*>(&real);
    if (*where != 0 && count < kMost) list[count++] = {{name, reinterpret_cast<uintptr_t>(hook), *where}, where};
  }
};

// The hook, libc's function and the member of `real` all have this name.
#define PENNA_ADD(name) functions.add(#name, reinterpret_cast<decltype(real.name)>(&::name), real.name)

// Those of C11 (mtx_lock) call these. Functions that only look at their arguments, like sem_destroy, are too short to
// patch, and pthread_spin_init is pthread_spin_unlock.
void add_locks(LibcFunctions& functions) {
  PENNA_ADD(pthread_mutex_lock);
  PENNA_ADD(pthread_mutex_trylock);
  PENNA_ADD(pthread_mutex_timedlock);
  PENNA_ADD(pthread_mutex_clocklock);
  PENNA_ADD(pthread_mutex_unlock);
  PENNA_ADD(pthread_mutex_init);
  PENNA_ADD(pthread_mutex_destroy);
  PENNA_ADD(pthread_spin_lock);
  PENNA_ADD(pthread_spin_trylock);
  PENNA_ADD(pthread_spin_unlock);
  PENNA_ADD(pthread_rwlock_rdlock);
  PENNA_ADD(pthread_rwlock_tryrdlock);
  PENNA_ADD(pthread_rwlock_timedrdlock);
  PENNA_ADD(pthread_rwlock_clockrdlock);
  PENNA_ADD(pthread_rwlock_wrlock);
  PENNA_ADD(pthread_rwlock_trywrlock);
  PENNA_ADD(pthread_rwlock_timedwrlock);
  PENNA_ADD(pthread_rwlock_clockwrlock);
  PENNA_ADD(pthread_rwlock_unlock);
  PENNA_ADD(pthread_rwlock_init);
  PENNA_ADD(pthread_cond_wait);
  PENNA_ADD(pthread_cond_timedwait);
  PENNA_ADD(pthread_cond_clockwait);
  PENNA_ADD(pthread_cond_signal);
  PENNA_ADD(pthread_cond_broadcast);
  PENNA_ADD(pthread_cond_init);
  PENNA_ADD(pthread_cond_destroy);
  PENNA_ADD(sem_wait);
  PENNA_ADD(sem_trywait);
  PENNA_ADD(sem_timedwait);
  PENNA_ADD(sem_clockwait);
  PENNA_ADD(sem_post);
  PENNA_ADD(sem_init);
  PENNA_ADD(pthread_barrier_wait);
  PENNA_ADD(pthread_barrier_init);
  PENNA_ADD(pthread_once);
  PENNA_ADD(pthread_join);
  PENNA_ADD(pthread_timedjoin_np);
  PENNA_ADD(pthread_clockjoin_np);
}

void add_maps(LibcFunctions& functions) {
  PENNA_ADD(mmap);
  PENNA_ADD(munmap);
  PENNA_ADD(mremap);
  PENNA_ADD(brk);
  PENNA_ADD(sbrk);
}

// The program may install a filter through these; and futex is called by syscall().
void add_system_calls(LibcFunctions& functions) {
  PENNA_ADD(prctl);
  PENNA_ADD(syscall);
}

// All other functions that start programs call these (execv, execvp, system, popen).
void add_starts(LibcFunctions& functions) {
  PENNA_ADD(execve);
  PENNA_ADD(fexecve);
  PENNA_ADD(posix_spawn);
  PENNA_ADD(posix_spawnp);
}

void add_loader(LibcFunctions& functions) {
  PENNA_ADD(dlopen);
  PENNA_ADD(dlclose);
}

// setjmp and _setjmp continue in __sigsetjmp. Where several names are one function, only the first is patched.
void add_calls(LibcFunctions& functions) {
  PENNA_ADD(__sigsetjmp);
  PENNA_ADD(longjmp);
  PENNA_ADD(__longjmp_chk);
  PENNA_ADD(getcontext);
  PENNA_ADD(setcontext);
  PENNA_ADD(makecontext);
  PENNA_ADD(swapcontext);
  PENNA_ADD(backtrace);
  PENNA_ADD(dlsym);
  PENNA_ADD(dlvsym);
}

// Through these the program sees its callers instead of trampolines (threads/backtrace.cc).
void keep_stack_walks() {
  put_back_last(reinterpret_cast<uintptr_t>(real.backtrace));
  put_back_last(reinterpret_cast<uintptr_t>(real._Unwind_Backtrace));
}

// The unwinder's, which is not part of libc.
void add_unwinder(LibcFunctions& functions) { PENNA_ADD(_Unwind_Backtrace); }

#undef PENNA_ADD

// Standalone agent: the lookup by which the program's unwinder finds our frames; and fork, which libc otherwise
// reports.
void add_standalone([[maybe_unused]] LibcFunctions& functions) {
#ifdef PENNA_STANDALONE
  functions.add("fork", &entered_fork, program_fork);
  functions.add("_Unwind_Find_FDE", &find_frame, program_find_frame);
#endif
}

// One request to the recorder for all of a library's functions: it reads the file once. A function that cannot be
// patched keeps its address in `real`, and the recording names it.
void enter(const LibcFunctions& functions, const link_map* map) {
  Instead entered[kMost];
  uintptr_t originals[kMost] = {};
  for (uint32_t i = 0; i < functions.count; ++i) entered[i] = functions.list[i].entered;
  ModuleFacts module;
  if (map == nullptr || !module_at(reinterpret_cast<uintptr_t>(map->l_ld), &module)) return count_refused_function();
  enter_instead(module, entered, functions.count, originals, PENNA_UNLESS_NOTHING);
  for (uint32_t i = 0; i < functions.count; ++i)
    if (originals[i] != 0) *functions.list[i].real = originals[i];
}

}  // namespace

// The standalone agent treats locks as the program's own (locks/entered_locks.cc), because the libc may be another one;
// and mappings of its allocator cannot be distinguished from the program's.
void enter_libc_functions(uint32_t classes) {
  LibcFunctions functions, unwinders;
  // Always needed: modules, filters and programs concern all kinds.
  if (!kStandalone) add_loader(functions);
  add_system_calls(functions);
  add_starts(functions);
  add_standalone(functions);
  if (!kStandalone && (classes & class_bit(PENNA_ALLOC)) != 0) add_maps(functions);
  if (!kStandalone && (classes & class_bit(PENNA_LOCKS)) != 0) add_locks(functions);
  if (!kStandalone && (classes & class_bit(PENNA_CALLS)) != 0) {
    add_calls(functions), add_unwinder(unwinders);
    keep_stack_walks();
  }
  if (functions.count != 0) enter(functions, libc_map());
  if (unwinders.count != 0) enter(unwinders, map_of(unwinders.list[0].entered.function));
}

}  // namespace penna::agent
