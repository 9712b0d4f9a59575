// SPDX-License-Identifier: MIT
// See starts.h.
#include "agent/programs/starts.h"

#include "agent/core/call_filters.h"
#include "agent/core/state.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "agent/core/writer.h"
#include "penna/clock.h"

namespace penna::agent {
namespace {

// Reserves a slot that no other thread fills; false: there is none.
bool take_place(penna_start_counts* counts, uint32_t* number) {
  uint32_t next = __atomic_load_n(&counts->written, __ATOMIC_RELAXED);
  do {
    // Acquire: pairs with the collector's release of `read`, after it has copied the slot.
    if (next - __atomic_load_n(&counts->read, __ATOMIC_ACQUIRE) >= PENNA_STARTS) {
      __atomic_fetch_add(&counts->unannounced, 1, __ATOMIC_RELAXED);
      return false;
    }
  } while (!__atomic_compare_exchange_n(&counts->written, &next, next + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *number = next;
  return true;
}

void put(penna_channel* channel, uint32_t pid, penna_start_why why, const char* path, uint64_t ticks) {
  auto* const page = reinterpret_cast<uint8_t*>(channel);
  uint32_t number;
  if (!take_place(reinterpret_cast<penna_start_counts*>(page + PENNA_START_COUNTS_AT), &number)) return;
  penna_start& place = reinterpret_cast<penna_starts*>(page + PENNA_STARTS_AT)->places[number % PENNA_STARTS];
  const size_t length = text_length(path);
  // Keeps the end of a longer path, which has the program's name.
  const size_t kept = length < PENNA_START_PATH ? length : size_t{PENNA_START_PATH};
  place.ticks = ticks;
  place.pid = pid;
  place.why = static_cast<uint16_t>(why);
  place.path_bytes = static_cast<uint16_t>(kept);
  __builtin_memcpy(place.path, path + (length - kept), kept);
  __atomic_store_n(&place.ready, number + 1, __ATOMIC_RELEASE);  // pairs with ChannelMap::next_start()
}

}  // namespace

void report_start(uint32_t pid, penna_start_why why, const char* path, uint64_t ticks) {
  if (process.channel == nullptr) return;
  if (why == PENNA_START_SECCOMP) count_unfollowed(1);
  put(process.channel, pid, why, path, ticks);
  if ((call_refusals & kRefusesRecording) == 0) ring_doorbell();
}

uint64_t time_of_start() { return clock_forbidden ? 0 : penna_now(); }

void count_unfollowed(int count) {
  if (process.channel != nullptr)
    // -1 wraps, and so subtracts.
    __atomic_fetch_add(&process.channel->counters.unfollowed, static_cast<uint64_t>(count), __ATOMIC_RELAXED);
}

// In a new pid namespace the process has another pid than its parent knows.
void report_not_met(penna_channel* of_parent, penna_start_why why) {
  // The first process of a pid namespace has no parent that it can name.
  const bool is_first = sys(SYS_getppid) == 0;
  put(of_parent, is_first ? 0 : static_cast<uint32_t>(sys(SYS_getpid)), why, "", time_of_start());
}

uint32_t own_pid() {
  if (process.channel == nullptr) return 0;  // a forked child that was not recorded: nothing can be reported
  return program_refused() ? process.channel->pid : static_cast<uint32_t>(sys(SYS_getpid));
}

}  // namespace penna::agent
