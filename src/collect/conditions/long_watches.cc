// SPDX-License-Identifier: MIT
// wait > TIME, span(NAME) > TIME, call(FUNC) > TIME: what takes longer than a limit, whether it has ended or not.
#include <algorithm>
#include <memory>
#include <utility>

#include "collect/conditions/site_watch.h"
#include "collect/conditions/watches.h"
#include "collect/entry_watch.h"
#include "penna/detail/regex.h"

namespace penna {
namespace {

uint64_t ticks_of(uint64_t ns, double ticks_per_ns) {
  return static_cast<uint64_t>(static_cast<double>(ns) * ticks_per_ns);
}

// Waits of idle threads (for work, for the end of another thread) are none that anyone minds.
bool is_lock_to_wait_for(uint64_t word) {
  const auto sync = static_cast<uint32_t>(word >> 56);
  return sync == PENNA_SYNC_MUTEX || sync == PENNA_SYNC_READ || sync == PENNA_SYNC_WRITE || sync == PENNA_SYNC_SPIN ||
         sync == PENNA_SYNC_ONCE || sync == PENNA_SYNC_OWN;
}

class WaitWatch final : public RecordWatch {
 public:
  WaitWatch(const SnapshotCondition& condition, ConditionHelp help)
      : RecordWatch(condition, std::move(help),
                    {PENNA_KIND_LOCK_REQUEST, PENNA_KIND_LOCK_WAIT, PENNA_KIND_MODULE, PENNA_KIND_LOST}),
        waits_(ticks_of(condition.limit, help_.ticks_per_ns)) {}

  void up_to_date() override {
    const uint64_t now = penna_now();
    for (const OpenTimes::Long& one : waits_.take_overdue(now, [&](const auto& thread) { return lives(thread); }))
      report(one.thread, fmt::format("has waited {} for a lock", time_text(one.ticks, help_.ticks_per_ns)), now);
    ForwardingObserver::up_to_date();
  }

 private:
  void see(const OpenTimes::Thread& thread, const Record& record) override {
    if (record.kind == PENNA_KIND_LOST) return waits_.lose(thread.process, thread.serial);
    if (record.kind == PENNA_KIND_MODULE) {
      if (const auto module = help_.learn ? decode_module(record) : std::nullopt) help_.learn(thread.process, *module);
      return;
    }
    const uint64_t word = record.as<penna_lock>().lock, address = word & PENNA_ADDRESS_MASK;
    if (!is_lock_to_wait_for(word) || (help_.is_lock && !help_.is_lock(thread.process, address))) return;
    if (record.kind == PENNA_KIND_LOCK_REQUEST) return waits_.begin(thread, address, record.time);
    if (const auto one = waits_.end(thread, address, record.time))
      report(thread, fmt::format("waited {} for a lock", time_text(one->ticks, help_.ticks_per_ns)), record.time);
  }
  void forget(uint32_t process) override { waits_.forget(process); }

  OpenTimes waits_;
};

class SpanWatch final : public SiteWatch {
 public:
  SpanWatch(const SnapshotCondition& condition, ConditionHelp help)
      : SiteWatch(condition, std::move(help)), spans_(ticks_of(condition.limit, help_.ticks_per_ns)) {}

  void up_to_date() override {
    const uint64_t now = penna_now();
    for (const OpenTimes::Long& one : spans_.take_overdue(now, [&](const auto& thread) { return lives(thread); }))
      report(one.thread, fmt::format("has been in it for {}", time_text(one.ticks, help_.ticks_per_ns)), now);
    ForwardingObserver::up_to_date();
  }

 private:
  bool wants(const Site& site) const override {
    const bool is_span = site.kind == PENNA_SITE_SPAN || site.kind == PENNA_SITE_SPAN_END;
    return is_span && matches_site(condition_.pattern, site);
  }
  void pass(const OpenTimes::Thread& thread, const Site& site, const Record& record) override {
    const uint64_t key = std::hash<std::string>{}(site.provider + ":" + site.name);
    if (site.kind == PENNA_SITE_SPAN) return spans_.begin(thread, key, record.time);
    if (const auto one = spans_.end(thread, key, record.time))
      report(thread, fmt::format("was in it for {}", time_text(one->ticks, help_.ticks_per_ns)), record.time);
  }
  void lose(const OpenTimes::Thread& thread) override { spans_.lose(thread.process, thread.serial); }
  void forget_more(uint32_t process) override { spans_.forget(process); }

  OpenTimes spans_;
};

class CallWatch final : public EntryWatch {
 public:
  CallWatch(const SnapshotCondition& condition, ConditionHelp help)
      : EntryWatch(help.functions, &FunctionTraits::snapshot),
        text_(condition.text),
        help_(std::move(help)),
        calls_(ticks_of(condition.limit, help_.ticks_per_ns)) {
    want_exits();
  }

  void began(const Process& process) override {
    pids_.began(process);
    EntryWatch::began(process);
  }
  void ended(const ProcessEnd& end) override {
    calls_.forget(end.number);
    pids_.ended(end.number);
    EntryWatch::ended(end);
  }
  void up_to_date() override {
    const uint64_t now = penna_now();
    const auto lives = [&](const OpenTimes::Thread& thread) {
      return help_.thread_lives == nullptr || help_.thread_lives(pids_.pid(thread.process), thread.tid);
    };
    for (const OpenTimes::Long& one : calls_.take_overdue(now, lives)) report(one, "has been", now);
    EntryWatch::up_to_date();
  }

 private:
  static OpenTimes::Thread thread_of(const Entry& entry) { return {entry.process, entry.serial, entry.tid}; }
  void entered(const Entry& entry) override { calls_.begin(thread_of(entry), entry.pc, entry.ticks); }
  void left(const Entry& entry) override {
    if (const auto one = calls_.end(thread_of(entry), entry.pc, entry.ticks)) report(*one, "was", entry.ticks);
  }
  void lost(uint32_t process, uint32_t serial) override { calls_.lose(process, serial); }
  void report(const OpenTimes::Long& one, const char* was, uint64_t ticks) {
    help_.report({fmt::format("{}: thread {} of process {} {} in it for {}", text_, one.thread.tid,
                              pids_.pid(one.thread.process), was, time_text(one.ticks, help_.ticks_per_ns)),
                  ticks});
  }

  std::string text_;
  ConditionHelp help_;
  KnownPids pids_;
  OpenTimes calls_;
};

}  // namespace

std::unique_ptr<ForwardingObserver> watch_waits(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<WaitWatch>(condition, std::move(help));
}
std::unique_ptr<ForwardingObserver> watch_spans(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<SpanWatch>(condition, std::move(help));
}
std::unique_ptr<ForwardingObserver> watch_calls(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<CallWatch>(condition, std::move(help));
}

}  // namespace penna
