// SPDX-License-Identifier: MIT
// Names that threads give themselves and each other. At its first event a thread is recorded with its current name,
// usually its creator's; many are named only later.
//
// Not covered: writes to /proc/PID/task/TID/comm, unless they come before the first event.
// Invariant: results and errno are those of the real function.
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "agent/core/lifecycle.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "agent/core/thread_of.h"
#include "agent/core/writer.h"
#include "agent/hooks/threads/filters.h"
#include "agent/modules/real.h"
#include "unwind/arch.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// As much of a name as the kernel keeps.
void copy_name(const char* name, char (&to)[16]) {
  for (size_t i = 0; i + 1 < sizeof to && name[i] != 0; ++i) to[i] = name[i];
}

// Records this thread's name. A thread without a chunk does so with its first event. `given` is taken as it is if the
// kernel must not be asked (seccomp); otherwise the kernel's name counts, and nothing is recorded if it differs: then
// another thread was named.
void record_own_name(const char* given) {
  penna_thread own{};
  if (process.channel == nullptr || (call_refusals & kRefusesRecording) != 0 || clock_forbidden) return;
  if (system_calls_filtered) {
    copy_name(given, own.name);
  } else {
    if (__atomic_load_n(&thread.cursor, __ATOMIC_RELAXED) == kNoChunk) return;
    sys(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(own.name));
    if (!text_begins(given, own.name, text_length(own.name))) return;
  }
  write_record(PENNA_KIND_THREAD, own, kNoClass, penna_now());
}

// The thread existed when it was named; by now it may have ended. One without events records its name with its first.
void record_name_of_other(pthread_t which, const char* name) {
  constexpr uint32_t kAnyClass = (1u << PENNA_CLASS_COUNT) - 1;
  if (process.channel == nullptr || (armed() & kAnyClass) == 0) return;
  const Thread* other = thread_of(which);
  if (!unwind::raw_probe(reinterpret_cast<uintptr_t>(&other->serial) & ~uintptr_t{7})) return;
  penna_thread_named named{};
  copy_name(name, named.name);
  named.serial = __atomic_load_n(&other->serial, __ATOMIC_RELAXED);
  named.tid = __atomic_load_n(&other->tid, __ATOMIC_RELAXED);
  if (named.serial != 0) write_record(PENNA_KIND_THREAD, named, kNoClass, penna_now());
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT int pthread_setname_np(pthread_t which, const char* name) noexcept {
  if (real.pthread_setname_np == nullptr && !resolve_real_functions()) return EAGAIN;
  const int error = real.pthread_setname_np(which, name);
  const bool is_own = which == penna::unwind::thread_pointer();
  if (error == 0) is_own ? record_own_name(name) : record_name_of_other(which, name);
  return error;
}

PENNA_EXPORT int prctl(int option, ...) noexcept {  // at most five words, as in the kernel
  va_list rest;
  va_start(rest, option);
  long arguments[4];
  // More than the caller has passed: what is left over is garbage in registers, which the kernel ignores.
  for (long& argument : arguments) argument = va_arg(rest, long);
  va_end(rest);
  if (real.prctl == nullptr && !resolve_real_functions()) return errno = EAGAIN, -1;
  const int result = change_process(option, arguments[0], arguments[1], [&] {
    return real.prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  });
  if (option == PR_SET_NAME && result == 0) record_own_name(reinterpret_cast<const char*>(arguments[0]));
  return result;
}
