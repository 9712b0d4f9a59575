// SPDX-License-Identifier: MIT
// See lock_findings.h.
#include "report/locks/lock_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/hash.h"
#include "model/events/summary.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

std::string time_text(const Recording& recording, uint64_t ticks) {
  return duration_text(ticks_to_ns(recording, ticks));
}

std::string count_of_threads(size_t count) { return plural_text(static_cast<int64_t>(count), "thread"); }

// The combined lifetime, within the range that is read, of the threads that waited for a lock: the time that they could
// have lost. If waits never ended, threads lived until their process's last event.
uint64_t lifetimes(const Recording& recording, const LockStats& lock) {
  const Summary summary = summarize(recording);
  const CallRules* rules = call_rules(recording);
  uint64_t sum = 0;
  for (const uint32_t thread : lock.waiting_threads) {
    const ThreadSummary& one = summary.threads[thread];
    const uint64_t end = lock.open_waits != 0 ? summary.processes[one.process].last_time : one.last_time;
    const uint64_t from = rules == nullptr ? one.first_time : std::max(one.first_time, rules->begin);
    const uint64_t to = rules == nullptr ? end : std::min(end, rules->end);
    if (to > from) sum += to - from;
  }
  return sum;
}

bool is_wanted_lock(const LockFilter& wanted, const LockStats& lock) { return !wanted || wanted(lock); }

// A lock convoy: many threads queue for a lock that is held only briefly, because each one that releases it must queue
// again behind the others. The limits: at least ten waits that found two others ahead, which are half of all waits; a
// median wait of twice the median hold; and a median hold of a millisecond at most, as a lock held for long is no
// convoy.
void add_convoys(const Recording& recording, const Locks& locks, const LockNames& name_of, const LockFilter& wanted,
                 std::vector<std::string>& findings) {
  constexpr uint64_t kLeast = 10;
  constexpr int64_t kShort = 1'000'000;  // ns
  for (const LockStats& lock : locks.all()) {
    if (!has_holder(lock.kind) || lock.queued_waits < kLeast || lock.queued_waits * 2 < lock.wait.count()) continue;
    if (!is_wanted_lock(wanted, lock)) continue;
    const uint64_t hold = lock.hold.percentile(0.5), wait = lock.wait.percentile(0.5);
    if (lock.hold.count() == 0 || wait < 2 * hold || ticks_to_ns(recording, hold) > kShort) continue;
    findings.push_back(fmt::format(
        "Convoy: {} queue for {} again and again: in {} of {} waits at least 2 others were waiting already. It is held "
        "for {} at a time (median), a wait takes {}.",
        count_of_threads(lock.waiting_threads.size()), name_of.in_sentence(lock),
        count_text(static_cast<int64_t>(lock.queued_waits)), count_text(static_cast<int64_t>(lock.wait.count())),
        time_text(recording, hold), time_text(recording, wait)));
  }
}

// The worst conditions for which worth() is not 0, described by say(), and how many more there are. Looks up names for
// at most kMostTried.
void add_worst(const Locks& locks, const LockFilter& wanted, uint64_t (*worth)(const ConditionStats&, const LockStats&),
               const std::function<std::string(const ConditionStats&)>& say, std::vector<std::string>& findings) {
  constexpr size_t kMost = 5, kMostTried = 50;
  const auto worth_of = [&](const ConditionStats* one) { return worth(*one, locks.all()[one->index]); };
  std::vector<const ConditionStats*> found;
  for (const ConditionStats& condition : locks.conditions())
    if (worth_of(&condition) != 0 && is_wanted_lock(wanted, locks.all()[condition.index])) found.push_back(&condition);
  std::stable_sort(found.begin(), found.end(), [&](auto* a, auto* b) { return worth_of(a) > worth_of(b); });
  // Conditions made over and over at the same place of a stack read the same.
  size_t said = 0;
  for (size_t i = 0; i < std::min(found.size(), kMostTried) && said < kMost; ++i) {
    std::string text = say(*found[i]);
    if (std::find(findings.begin(), findings.end(), text) != findings.end()) continue;
    findings.push_back(std::move(text));
    ++said;
  }
  if (found.size() > said)
    findings.push_back(fmt::format("The same of {}.",
                                   plural_text(static_cast<int64_t>(found.size() - said), "more condition variable")));
}

std::string name_of_one(const Recording& recording, const LockStats& lock, const LockNames& name_of, bool of_many) {
  const std::string text = name_of.in_sentence(lock);
  return of_many ? fmt::format("{} of pid {}", text, recording.processes()[lock.process].process.pid) : text;
}

// Waits for locks that ended without the lock, and robust mutexes whose owners had died: see
// pthread_mutexattr_setrobust(3). The worst of each.
void add_ends(const Recording& recording, const Locks& locks, const LockNames& name_of, const LockFilter& wanted,
              std::vector<std::string>& findings) {
  constexpr size_t kMost = 5;
  const bool of_many = are_of_many_processes(locks);
  const auto name = [&](const LockStats& lock) { return name_of_one(recording, lock, name_of, of_many); };
  const auto add = [&](uint64_t LockStats::*count, const auto& say) {
    std::vector<const LockStats*> found;
    for (const LockStats& lock : locks.all())
      if (has_holder(lock.kind) && lock.*count != 0 && is_wanted_lock(wanted, lock)) found.push_back(&lock);
    std::stable_sort(found.begin(), found.end(), [&](auto* a, auto* b) { return a->*count > b->*count; });
    for (size_t i = 0; i < std::min(found.size(), kMost); ++i) findings.push_back(say(*found[i]));
    if (found.size() > kMost)
      findings.push_back(
          fmt::format("The same of {}.", plural_text(static_cast<int64_t>(found.size() - kMost), "more lock")));
  };
  add(&LockStats::timeouts, [&](const LockStats& lock) {
    return fmt::format("{} of {} for {} ended by time-out.", count_text(static_cast<int64_t>(lock.timeouts)),
                       plural_text(static_cast<int64_t>(lock.wait.count() + lock.short_waits), "wait"), name(lock));
  });
  add(&LockStats::owner_died, [&](const LockStats& lock) {
    return fmt::format(
        "A thread that held {} died{}: the next thread to take it got EOWNERDEAD.", name(lock),
        lock.owner_died == 1 ? "" : fmt::format(", {} times", count_text(static_cast<int64_t>(lock.owner_died))));
  });
}

// Signs that a condition variable is used wrongly: signals that no thread hears, waits that end only by timeout, and
// broadcasts that wake many threads of which one can go on.
void add_conditions(const Recording& recording, const Locks& locks, const LockNames& name_of, const LockFilter& wanted,
                    std::vector<std::string>& findings) {
  const bool of_many = are_of_many_processes(locks);
  const auto name = [&](const ConditionStats& one) {
    return name_of_one(recording, locks.all()[one.index], name_of, of_many);
  };
  const auto number_text = [](uint64_t count) { return count_text(static_cast<int64_t>(count)); };
  add_worst(
      locks, wanted, [](const ConditionStats& one, const LockStats&) { return one.unheard; },
      [&](const ConditionStats& one) {
        return fmt::format("{} of {} of {} came while no thread waited for it.", number_text(one.unheard),
                           plural_text(static_cast<int64_t>(one.signals + one.broadcasts), "signal or broadcast",
                                       "signals and broadcasts"),
                           name(one));
      },
      findings);
  add_worst(
      locks, wanted, [](const ConditionStats&, const LockStats& lock) { return lock.timeouts; },
      [&](const ConditionStats& one) {
        const LockStats& lock = locks.all()[one.index];
        return fmt::format("{} of {} for {} ended by time-out.", number_text(lock.timeouts),
                           plural_text(static_cast<int64_t>(lock.wait.count() + lock.short_waits), "wait"), name(one));
      },
      findings);
  add_worst(
      locks, wanted, [](const ConditionStats& one, const LockStats&) { return one.herds; },
      [&](const ConditionStats& one) {
        return fmt::format(
            "Thundering herd: after {} of {}, all but one of the threads that woke up ({} on average) "
            "waited for {} again.",
            number_text(one.herds), plural_text(static_cast<int64_t>(one.broadcasts), "broadcast") + " of " + name(one),
            one.herded / one.herds, one.lock == kNoIndex ? "the mutex" : name_of.in_sentence(locks.all()[one.lock]));
      },
      findings);
}

// The sum of waits for objects with the same name: each waiter may have its own, as in a pool of parkers, so that the
// worst single object says little.
struct AlikeWaits {
  uint64_t time = 0;
  int64_t count = 0;
  std::vector<uint32_t> threads;
};
AlikeWaits alike_waits(const Locks& locks, const LockNames& name_of, const LockStats& worst) {
  constexpr int kMost = 100;  // names are looked up; the rest has less
  const std::string name = name_of(worst);
  AlikeWaits sum;
  int left = kMost;
  for (const LockStats* lock : locks.by_wait()) {
    if (lock->kind != worst.kind || lock->process != worst.process || lock->wait.sum() == 0) continue;
    if (left-- == 0) break;
    if (name_of(*lock) != name) continue;
    sum.time += lock->wait.sum();
    ++sum.count;
    sum.threads.insert(sum.threads.end(), lock->waiting_threads.begin(), lock->waiting_threads.end());
  }
  std::sort(sum.threads.begin(), sum.threads.end());
  sum.threads.erase(std::unique(sum.threads.begin(), sum.threads.end()), sum.threads.end());
  return sum;
}

// A sentence on the costliest futex, semaphore or barrier: programs build locks from these, without a known holder.
// `lost`: ticks lost to real locks. If not 0, only futexes that cost at least twice as much are mentioned: waiters for
// other objects are mostly idle.
std::string worst_other(const Recording& recording, const Locks& locks, const LockNames& name_of,
                        const LockFilter& wanted, uint64_t lost) {
  for (const LockStats* lock : locks.by_wait()) {
    if (!is_wanted_lock(wanted, *lock)) continue;
    const bool may_be_lock =
        lock->kind == LockKind::kFutex || lock->kind == LockKind::kSemaphore || lock->kind == LockKind::kBarrier;
    if (!may_be_lock || lock->wait.sum() == 0 || (lost != 0 && lock->kind != LockKind::kFutex)) continue;
    const AlikeWaits alike = alike_waits(locks, name_of, *lock);
    // by_wait() has the most first: those that follow are no better.
    if (alike.time / 2 < lost) return "";
    std::string name = name_of.in_sentence(*lock);
    if (name == name_of(*lock)) name = fmt::format("{} {}", lock_kind_name(lock->kind), name);
    const std::string plural = lock_kind_name(lock->kind) + std::string(lock->kind == LockKind::kFutex ? "es" : "s");
    if (alike.count > 1) name = fmt::format("{} {} {}", alike.count, plural, name_of(*lock));
    return fmt::format(" {} waited {} for {}, whose holder is unknown{}.", count_of_threads(alike.threads.size()),
                       time_text(recording, alike.time), name,
                       lock->kind == LockKind::kFutex
                           ? ": if a lock of the program's own waits so, record it with --lock-functions"
                           : "");
  }
  return "";
}

// A wakeup that may have been lost: a thread waits to the end for a condition that had been signalled before, when no
// thread waited. This is only a suspicion, and worded as a question: the signal may have been meant for no thread.
void add_lost(const Recording& recording, const Locks& locks, const LockNames& name_of, const LockFilter& wanted,
              std::vector<std::string>& findings) {
  constexpr size_t kMost = 10;
  std::vector<LostWakeup> lost;
  for (const LostWakeup& one : locks.lost_wakeups())
    if (is_wanted_lock(wanted, locks.all()[locks.conditions()[one.condition].index])) lost.push_back(one);
  for (size_t i = 0; i < std::min(lost.size(), kMost); ++i) {
    const LostWakeup& one = lost[i];
    const std::string name = name_of.in_sentence(locks.all()[locks.conditions()[one.condition].index]);
    findings.push_back(fmt::format(
        "Lost wake-up? {} still waits for {}; {} had signalled it {} before that wait began, while no thread waited{}.",
        name_of.thread(one.thread), name, name_of.thread(one.signaller),
        time_text(recording, one.begin - one.signalled),
        one.while_locked ? ", while the thread held the mutex and was on its way to wait" : ""));
  }
  if (lost.size() > kMost)
    findings.push_back(fmt::format("{} more of the same kind.", count_text(static_cast<int64_t>(lost.size() - kMost))));
}

}  // namespace

// One pass over the pairs. Pairs of one lock and one place are summed up, as several waiters' stacks may meet the same
// holder; the best sum so far is kept for each lock. The first index says what a number means: 0 a stack that took the
// lock or woke its waiter, 1 any other stack or none, 2 a stack of another process.
std::vector<MainHolder> main_holders(const Locks& locks) {
  struct Sum {
    const WaitPair* longest;
    uint64_t time = 0;
  };
  NumberMap<uint32_t> known[3];  // by how the stack is known, and whether it is another process's: lock, stack -> sum
  std::vector<Sum> sums;
  std::vector<MainHolder> holders(locks.all().size());
  for (const WaitPair& pair : locks.pairs()) {
    const bool by_stack = pair.side == OtherSide::kHeld || pair.side == OtherSide::kWoke;
    const uint32_t unknown = pair.side == OtherSide::kUnknown && pair.other_thread != kNoIndex ? 64 : 0;
    // Kinds without a stack get keys from the top, where there are no stack numbers.
    const uint32_t stack = pair.elsewhere != 0     ? pair.elsewhere
                           : pair.other_stack != 0 ? pair.other_stack
                                                   : UINT32_MAX - static_cast<uint32_t>(pair.side) - unknown;
    const auto [found, added] = known[pair.elsewhere != 0 ? 2
                                      : by_stack          ? 0
                                                          : 1]
                                    .try_emplace(pair_key(pair.lock, stack), static_cast<uint32_t>(sums.size()));
    if (added) sums.push_back({&pair});
    Sum& sum = sums[found->second];
    if (pair.time > sum.longest->time) sum.longest = &pair;
    if (__builtin_add_overflow(sum.time, pair.time, &sum.time)) sum.time = UINT64_MAX;
    MainHolder& main = holders[pair.lock];
    if (main.pair == nullptr || sum.time > main.time) main = {sum.longest, sum.time};
  }
  return holders;
}

// The place where the lock was taken; without one, why there is none, or the thread.
std::string other_side_text(const Locks& locks, const WaitPair& pair, const LockNames& name_of) {
  const std::string place = name_of.place(other_process(locks.all()[pair.lock], pair), pair.other_stack);
  if (!place.empty()) return place;
  switch (pair.side) {
    case OtherSide::kFree: return "none: it was free";
    case OtherSide::kTimeout: return "nobody: timed out";
    case OtherSide::kInterrupted: return "nobody: interrupted or cancelled";
    default: return pair.other_thread == kNoIndex ? "unknown" : name_of.thread(pair.other_thread);
  }
}

namespace {

// The sentence at the head of the report. Its numbers: what the waiting threads lost, of how long they lived, and to
// whom.
std::string worst_lock(const Recording& recording, const Locks& locks, const LockNames& name_of,
                       const LockStats* worst) {
  const uint64_t lost = worst->wait.sum(), lived = lifetimes(recording, *worst);
  std::string text =
      fmt::format("{} lost {}", count_of_threads(worst->waiting_threads.size()), time_text(recording, lost));
  if (lived >= lost)
    text += fmt::format(" of {} {}", worst->waiting_threads.size() == 1 ? "its" : "their", time_text(recording, lived));
  text += " waiting for " + name_of.in_sentence(*worst);
  const MainHolder main = main_holders(locks)[static_cast<size_t>(worst - locks.all().data())];
  if (main.pair == nullptr) return text + ".";
  const double share = 100 * static_cast<double>(main.time) / static_cast<double>(lost);
  const std::string other = other_side_text(locks, *main.pair, name_of);
  text += fmt::format(", {} of it while ", share >= 99.95 ? "all" : percent_text(share));
  switch (main.pair->side) {
    case OtherSide::kHeld: return text + other + " held it.";
    case OtherSide::kReleased: return text + fmt::format("it was held by the thread that released it in {}.", other);
    case OtherSide::kFree: return text + "nobody held it: waking up takes longer than they hold it.";
    default: return text + (main.pair->other_thread == kNoIndex ? "it is not known who held it." : other + " held it.");
  }
}

}  // namespace

std::string lock_verdict(const Recording& recording, const Locks& locks, const LockNames& name_of,
                         const LockStats* worst, const LockFilter& wanted) {
  if (worst == nullptr || worst->wait.sum() == 0) {
    const LockCounts counts = locks.counts(wanted);
    std::string text =
        counts.locks == 0 && wanted ? "None of these is a lock with a holder."
        : counts.locks == 0
            ? "No locks were recorded, but other waits."
            : fmt::format("{} taken {}, and never waited for.", plural_text(static_cast<int64_t>(counts.locks), "lock"),
                          plural_text(static_cast<int64_t>(counts.acquisitions), "time"));
    return text + worst_other(recording, locks, name_of, wanted, 0);
  }
  return worst_lock(recording, locks, name_of, worst) +
         worst_other(recording, locks, name_of, wanted, worst->wait.sum());
}

// Findings, the surest first; what makes numbers incomplete comes last.
std::vector<std::string> lock_findings(const Recording& recording, const Locks& locks, const LockNames& name_of,
                                       const LockFilter& wanted) {
  std::vector<std::string> findings;
  add_convoys(recording, locks, name_of, wanted, findings);
  add_ends(recording, locks, name_of, wanted, findings);
  add_conditions(recording, locks, name_of, wanted, findings);
  add_lost(recording, locks, name_of, wanted, findings);
  uint64_t open = 0;
  for (const LockStats& lock : locks.all())
    open += has_holder(lock.kind) && is_wanted_lock(wanted, lock) ? lock.open_waits : 0;
  if (open != 0)
    findings.push_back(fmt::format("{} for locks had not ended when the {} did: counted up to there.",
                                   plural_text(static_cast<int64_t>(open), "wait"),
                                   reads_range(recording) ? "range" : "recording"));
  const LockCounts counts = locks.counts();
  if (counts.unended != 0)
    findings.push_back(fmt::format("{} in a way that was not recorded (cancelled, say): not counted.",
                                   plural_text(static_cast<int64_t>(counts.unended), "wait ended", "waits ended")));
  if (counts.folded != 0)
    findings.push_back(fmt::format(
        "{} made anew at the place of an older one, and counted with it: they are too many to be told apart.",
        plural_text(static_cast<int64_t>(counts.folded), "lock was", "locks were")));
  return findings;
}

}  // namespace penna
