// SPDX-License-Identifier: MIT
// See clocks.h.
#include "collect/clocks.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "penna/arch/arch.h"
#include "penna/channel.h"
#include "penna/clock.h"

namespace penna {
namespace {

// 0: the clock no longer exists.
uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The value of the first "name : value" line of /proc/cpuinfo.
std::string cpuinfo_value(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  size_t colon = text.find(':', at), end = text.find('\n', at);
  if (colon == std::string_view::npos || end == std::string_view::npos || colon + 2 > end) return {};
  return std::string(text.substr(colon + 2, end - colon - 2));
}

}  // namespace

ClockTriplet read_clocks() {
  ClockTriplet best;
  uint64_t best_gap = UINT64_MAX;
  // We may be preempted between any two readings; of ten tries, the closest counts.
  for (int i = 0; i < 10; ++i) {
    uint64_t before = penna_now();
    uint64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
    uint64_t realtime = nanoseconds(CLOCK_REALTIME);
    uint64_t gap = penna_now() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    // Of three intervals between four readings, the monotonic clock was read at the end of the first.
    best = {before + gap / 3, monotonic, realtime};
  }
  return best;
}

double measure_ticks_per_ns(std::chrono::milliseconds time) {
  const ClockTriplet begin = read_clocks();
  std::this_thread::sleep_for(time);
  const ClockTriplet end = read_clocks();
  const uint64_t passed = std::max<uint64_t>(end.monotonic_ns - begin.monotonic_ns, 1);
  return static_cast<double>(end.ticks - begin.ticks) / static_cast<double>(passed);
}

double measure_stamp_ns() {
  constexpr int kStamps = 10'000;
  const uint64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  uint64_t sum = 0;
  for (int i = 0; i < kStamps; ++i) {
    sum += penna_now();
    // Keeps the compiler from merging or dropping readings.
    asm volatile("" : "+r"(sum));
  }
  return static_cast<double>(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before) / kStamps;
}

namespace {

// The hook of agent/calls/calls.cc and agent/core/writer.h, with its own memory.
struct HookModel {
  uint32_t armed = 1;
  uint64_t cursor = 0;
  penna_chunk chunk{};
  std::array<uint64_t, 512> words{};
} model;

[[gnu::noinline]] void recording_hook(void* function, void*) {
  if ((__atomic_load_n(&model.armed, __ATOMIC_RELAXED) & 1) == 0) return;
  const uint64_t at = penna_arch_add_local(&model.cursor, 1) % model.words.size();
  const auto pc = reinterpret_cast<uintptr_t>(function);
  const uint64_t time = penna_now();
  if (time - model.chunk.time_begin >= uint64_t{1} << 63 || pc >> 32 == model.chunk.pc_high) return;
  __atomic_store_n(&model.words[at], penna_call_header(PENNA_TAG_ENTRY, pc, time), __ATOMIC_RELEASE);
}
[[gnu::noinline]] void empty_hook(void*, void*) { asm volatile(""); }

using Hook = void (*)(void*, void*);
[[gnu::noinline]] void instrumented(const volatile Hook& hook) {
  hook(reinterpret_cast<void*>(&instrumented), __builtin_return_address(0));
  hook(reinterpret_cast<void*>(&instrumented), __builtin_return_address(0));
}

// Nanoseconds per call of `hook`: the minimum of a few rounds, because of disturbances by other programs.
double time_of(const volatile Hook& hook) {
  // CLOCK_THREAD_CPUTIME_ID: time taken by other programs does not count.
  constexpr int kRounds = 5, kCalls = 2000;
  uint64_t least = UINT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kCalls; ++i) instrumented(hook);
    least = std::min(least, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before);
  }
  return static_cast<double>(least) / (2 * kCalls);
}

}  // namespace

double measure_call_hook_ns() {
  model.chunk.time_begin = penna_now();
  model.chunk.pc_high = UINT32_MAX;
  const volatile Hook recording = recording_hook, empty = empty_hook;
  return std::max(time_of(recording) - time_of(empty), 0.1);
}

uint64_t processor_ns(pid_t pid) {
  clockid_t clock;
  return ::clock_getcpuclockid(pid, &clock) == 0 ? nanoseconds(clock) : 0;
}

Session describe_host() {
  Session session;
  utsname names{};
  ::uname(&names);
  session.host = names.nodename;
  session.kernel = std::string(names.release) + " " + names.version;
  session.machine = names.machine;
  if (auto text = read_file("/proc/cpuinfo")) {
    session.cpu = cpuinfo_value(*text, "model name");
    std::string flags = cpuinfo_value(*text, "flags");
    if (flags.find("constant_tsc") != std::string::npos && flags.find("nonstop_tsc") != std::string::npos)
      session.clock_flags |= kClockInvariant;
  }
  session.cpu_count = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  session.page_size = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE));
  session.recorder_pid = static_cast<uint32_t>(::getpid());
  session.start = read_clocks();
  return session;
}

}  // namespace penna
