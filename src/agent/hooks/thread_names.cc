// SPDX-License-Identifier: MIT
// Names that threads give themselves. A thread is told with the name that it has at its first event, mostly its creator's: many
// name themselves only then.
//
// Left out: a name that another thread gives; it is seen if it comes before the first event.
// Invariant: results and errno are those of the real function.
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "agent/lifecycle.h"
#include "agent/real.h"
#include "agent/sys.h"
#include "agent/text.h"
#include "agent/writer.h"
#include "unwind/arch.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// What the kernel may not be asked for (PR_GET_NAME): the name as it was given, also of a thread that has no chunk yet.
void tell_given_name(const char* name) {
  penna_thread own{};
  if (process.channel == nullptr) return;
  for (size_t i = 0; i + 1 < sizeof own.name && name[i] != 0; ++i) own.name[i] = name[i];
  write_record(PENNA_KIND_THREAD, own, kNoClass, penna_now());
}

// Of a thread that has no chunk the first event tells. `expected`: of another thread's name there is nothing to tell here.
void tell_own_name(const char* expected) {
  penna_thread own{};
  if (process.channel == nullptr || __atomic_load_n(&thread.cursor, __ATOMIC_RELAXED) == kNoChunk) return;
  sys(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(own.name));
  if (text_begins(expected, own.name, text_length(own.name)))
    write_record(PENNA_KIND_THREAD, own, kNoClass, penna_now());
}

// Soon the instruction that reads the clock ends the process: nothing is recorded any more. Also where the kernel will not have it.
void leave_clock() {
  if (process.channel == nullptr || armed() == kStarted) return;
  stop_recording();
  thread.muted = 1;
  close_chunk();
  process.channel->counters.reserved[PENNA_CLOCK_FORBIDDEN] = 1;
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT int pthread_setname_np(pthread_t which, const char* name) noexcept {
  if (real.pthread_setname_np == nullptr && !resolve_real_functions()) return EAGAIN;
  const int error = real.pthread_setname_np(which, name);
  if (error == 0 && system_calls_filtered && which == penna::unwind::thread_pointer()) tell_given_name(name);
  if (error == 0 && !system_calls_filtered) tell_own_name(name);
  return error;
}

PENNA_EXPORT int prctl(int option, ...) noexcept {  // at most five words, as the kernel takes
  va_list rest;
  va_start(rest, option);
  long arguments[4];
  for (long& argument : arguments) argument = va_arg(rest, long);
  va_end(rest);
  if (real.prctl == nullptr && !resolve_real_functions()) return errno = EAGAIN, -1;
  if (option == PR_SET_SECCOMP) system_calls_filtered = true;
  const bool strict = option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_STRICT;
  if (strict || (option == PR_SET_TSC && arguments[0] == PR_TSC_SIGSEGV)) leave_clock();
  const int result = real.prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (option == PR_SET_NAME && result == 0)
    (system_calls_filtered ? tell_given_name : tell_own_name)(reinterpret_cast<const char*>(arguments[0]));
  return result;
}
