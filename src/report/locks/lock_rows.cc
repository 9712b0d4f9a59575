// SPDX-License-Identifier: MIT
// See lock_rows.h.
#include "report/locks/lock_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/nearest_name.h"
#include "model/events/sampling.h"
#include "model/names/function_pattern.h"
#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/units.h"

namespace penna {
namespace {

// By the beginning of the file name: the rest is the version.
bool has_library(const Recording& recording, std::string_view begin) {
  return std::any_of(recording.processes().begin(), recording.processes().end(), [&](const RecordedProcess& process) {
    return std::any_of(process.modules.begin(), process.modules.end(),
                       [&](const Module& one) { return base_name(one.path).starts_with(begin); });
  });
}

// What is known not to be recorded. libgomp makes its futex system calls itself, without libc's syscall(): only its
// locks are seen. Inlined code takes Qt's QMutex when it is free; the library's functions are called only when it is
// not.
void add_unseen(const Recording& recording, std::vector<std::string>& head) {
  if (has_library(recording, "libgomp.so"))
    head.push_back(
        "What OpenMP's threads wait for inside libgomp is not seen, but its locks: 'penna record -k calls --libcalls' "
        "shows the time in GOMP_barrier.");
  if (has_library(recording, "libQt5Core.so") || has_library(recording, "libQt6Core.so"))
    head.push_back(
        "Of Qt's QMutex only waits are seen, as futexes that nobody is known to hold: taking a free one calls no "
        "function.");
}

}  // namespace

LockChoice::LockChoice(const Locks& locks, const LockNames& name_of, const std::string& wanted)
    : locks_(locks), name_of_(name_of), wanted_(wanted) {
  if (wanted.empty()) return;
  const FunctionPattern pattern(wanted);
  NearestName nearest(wanted);
  for (const LockStats& lock : locks.all()) {
    const std::string name = name_of(lock);
    nearest.see(name_for_pattern(name, wanted));
    // The very name first: a name with brackets or '*' is no pattern.
    chosen_.push_back(name == wanted || pattern.matches(name));
  }
  near_ = nearest.name();
}

// by_wait() has the most first.
const LockStats* LockChoice::worst() const {
  for (const LockStats* lock : locks_.by_wait())
    if (has_holder(lock->kind) && has(*lock)) return lock->wait.count() == 0 ? nullptr : lock;
  return nullptr;
}

std::vector<std::string> LockChoice::head(const Recording& recording) const {
  const LockCounts counts = locks_.counts(filter());
  if (locks_.by_wait().empty()) {
    std::vector<std::string> head = {reads_range(recording) ? "No lock was used in this time."
                                                            : "No locks were recorded."};
    add_unseen(recording, head);
    return head;
  }
  if (!chosen_.empty() && std::find(chosen_.begin(), chosen_.end(), true) == chosen_.end())
    return {fmt::format("No lock is called {}{}: 'penna report locks' without --lock lists them.", wanted_,
                        hint_of(near_))};
  std::vector<std::string> head = {lock_verdict(recording, locks_, name_of_, worst(), filter())};
  if (counts.contended != 0)
    head.push_back(fmt::format(
        "{} taken {}, {} after waiting, {} in all", plural_text(static_cast<int64_t>(counts.locks), "lock"),
        plural_text(static_cast<int64_t>(counts.acquisitions), "time"),
        count_text(static_cast<int64_t>(counts.contended)), duration_text(ticks_to_ns(recording, counts.wait_time))));
  if (const uint64_t sample = lock_sample(recording); sample > 1)
    head.push_back(fmt::format(
        "Of acquisitions without waiting one in {} was recorded: their numbers, and the time of holds, are estimates",
        count_text(static_cast<int64_t>(sample))));
  if (const uint64_t out = sum_of(&LockStats::short_waits); out != 0)
    head.push_back(
        fmt::format("{} left out as shorter than --min-wait", plural_text(static_cast<int64_t>(out), "wait")));
  add_unseen(recording, head);
  return head;
}

uint64_t LockChoice::sum_of(uint64_t LockStats::*counter) const {
  uint64_t sum = 0;
  for (const LockStats& lock : locks_.all())
    if (has(lock)) sum += lock.*counter;
  return sum;
}

Cell lock_percentile(const Recording& recording, const Distribution& distribution, double share) {
  if (distribution.count() == 0) return Cell{};
  return ticks_to_ns(recording, share >= 1 ? distribution.max() : distribution.percentile(share));
}

}  // namespace penna
