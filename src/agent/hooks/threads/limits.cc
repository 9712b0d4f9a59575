// SPDX-License-Identifier: MIT
// RLIMIT_AS, as set by libc's functions: if a program limits its address space while it runs, the limit is raised by
// what the agent uses, and the program reads back what it asked for.
//
// Not covered: limits that are set by a bare system call, or by another process. Programs that this one starts inherit
// the raised hard limit; those started by system(), popen() and posix_spawn() the raised soft limit, too.
// Invariant: results and errno are those of the real function.
#include "agent/hooks/threads/limits.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

#include "agent/core/call_filters.h"
#include "agent/core/state.h"
#include "agent/modules/real.h"
#include "penna/channel.h"
#include "unwind/arch.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// A limit that was raised: recognised by its value, because vfork's children share this memory but not the limits.
struct Raised {
  uint64_t asked = RLIM64_INFINITY, real = RLIM64_INFINITY;
  uint64_t shown(uint64_t now) const { return now == real ? asked : now; }
};
Raised soft, hard;

// The memory of the channel, and of the agent itself.
uint64_t own_memory() {
  constexpr uint64_t kAgent = 14 << 20;
  return process.channel != nullptr ? process.channel->total_bytes + kAgent : 0;
}

// Saturates: what is nearly infinite becomes so.
uint64_t raised_by(uint64_t limit, uint64_t bytes) {
  return limit >= RLIM64_INFINITY - bytes ? RLIM64_INFINITY : limit + bytes;
}

int real_limits(pid_t pid, __rlimit_resource resource, const rlimit64* wanted, rlimit64* old) {
  if (real.prlimit64 != nullptr || resolve_real_functions()) return real.prlimit64(pid, resource, wanted, old);
  return errno = EAGAIN, -1;
}

// The kernel returns EFAULT for a wild pointer; so must the hook, instead of a fault. Both ends, as it may cross a
// page.
bool can_be_read(const rlimit64* limits) {
  if ((call_refusals & kRefusesRecording) != 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(limits);
  return unwind::raw_probe(begin & ~uintptr_t{7}) && unwind::raw_probe((begin + sizeof *limits - 1) & ~uintptr_t{7});
}

// A hard limit is never raised above the current one: without privilege, that fails.
rlimit64 with_our_memory(const rlimit64& wanted, const rlimit64& now) {
  const uint64_t bytes = own_memory();
  rlimit64 given{raised_by(wanted.rlim_cur, bytes), raised_by(wanted.rlim_max, bytes)};
  if (wanted.rlim_max <= hard.shown(now.rlim_max) && given.rlim_max > now.rlim_max) given.rlim_max = now.rlim_max;
  if (wanted.rlim_cur <= wanted.rlim_max && given.rlim_cur > given.rlim_max) given.rlim_cur = given.rlim_max;
  return given;
}

int limit_memory(const rlimit64& wanted, rlimit64* old) {
  rlimit64 now{};
  if (real_limits(0, RLIMIT_AS, nullptr, &now) != 0) return -1;
  const rlimit64 given = with_our_memory(wanted, now);
  const int result = real_limits(0, RLIMIT_AS, &given, old);
  if (result != 0) return result;
  if (old != nullptr) *old = {soft.shown(now.rlim_cur), hard.shown(now.rlim_max)};
  soft = {wanted.rlim_cur, given.rlim_cur};
  hard = {wanted.rlim_max, given.rlim_max};
  return 0;
}

int limits(pid_t pid, __rlimit_resource resource, const rlimit64* wanted, rlimit64* old) {
  const bool is_own = resource == RLIMIT_AS &&
                      (pid == 0 || (process.channel != nullptr && static_cast<uint32_t>(pid) == process.channel->pid));
  if (is_own && wanted != nullptr && process.channel != nullptr && can_be_read(wanted))
    return limit_memory(*wanted, old);
  const int result = real_limits(pid, resource, wanted, old);
  if (result == 0 && is_own && old != nullptr) *old = {soft.shown(old->rlim_cur), hard.shown(old->rlim_max)};
  return result;
}

}  // namespace

// The hard limit stays: once lowered, it could not be raised again.
RequestedLimits::RequestedLimits() {
  rlimit64 now{};
  if (soft.asked == soft.real || (call_refusals & kRefusesStart) != 0) return;
  if (real_limits(0, RLIMIT_AS, nullptr, &now) != 0 || now.rlim_cur != soft.real) return;
  now.rlim_cur = soft.asked;
  lowered_ = real_limits(0, RLIMIT_AS, &now, nullptr) == 0;
}

RequestedLimits::~RequestedLimits() {
  rlimit64 now{};
  const int error = errno;
  if (lowered_ && real_limits(0, RLIMIT_AS, nullptr, &now) == 0) {
    now.rlim_cur = soft.real;
    (void)real_limits(0, RLIMIT_AS, &now, nullptr);
  }
  errno = error;
}

}  // namespace penna::agent

using penna::agent::limits;

// struct rlimit equals struct rlimit64 where long has 64 bits.
static_assert(sizeof(rlimit) == sizeof(rlimit64));

PENNA_EXPORT int setrlimit(__rlimit_resource_t resource, const rlimit* wanted) noexcept {
  return limits(0, static_cast<__rlimit_resource>(resource), reinterpret_cast<const rlimit64*>(wanted), nullptr);
}

PENNA_EXPORT int setrlimit64(__rlimit_resource_t resource, const rlimit64* wanted) noexcept {
  return limits(0, static_cast<__rlimit_resource>(resource), wanted, nullptr);
}

PENNA_EXPORT int getrlimit(__rlimit_resource_t resource, rlimit* found) noexcept {
  return limits(0, static_cast<__rlimit_resource>(resource), nullptr, reinterpret_cast<rlimit64*>(found));
}

PENNA_EXPORT int getrlimit64(__rlimit_resource_t resource, rlimit64* found) noexcept {
  return limits(0, static_cast<__rlimit_resource>(resource), nullptr, found);
}

PENNA_EXPORT int prlimit(pid_t pid, __rlimit_resource resource, const rlimit* wanted, rlimit* old) noexcept {
  return limits(pid, resource, reinterpret_cast<const rlimit64*>(wanted), reinterpret_cast<rlimit64*>(old));
}

PENNA_EXPORT int prlimit64(pid_t pid, __rlimit_resource resource, const rlimit64* wanted, rlimit64* old) noexcept {
  return limits(pid, resource, wanted, old);
}
