// SPDX-License-Identifier: MIT
// RecordWatch: an observer that picks records of some kinds; the base of most watches.
//
// Invariant: compact calls, which are most records, are passed over without being decoded.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "collect/conditions/condition.h"
#include "collect/conditions/open_times.h"
#include "collect/observer.h"
#include "penna/clock.h"
#include "recording/records.h"

namespace penna {

// "1.25 s", "120 ms", "15 us"
inline std::string time_text(uint64_t ticks, double ticks_per_ns) {
  const double ns = static_cast<double>(ticks) / ticks_per_ns;
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  return ns >= 1e6 ? fmt::format("{:.1f} ms", ns / 1e6) : fmt::format("{:.1f} us", ns / 1e3);
}

// The pids of living processes.
class KnownPids {
 public:
  void began(const Process& process) { pids_[process.number] = process.pid; }
  void ended(uint32_t process) { pids_.erase(process); }
  uint32_t pid(uint32_t process) const {
    const auto found = pids_.find(process);
    return found == pids_.end() ? 0 : found->second;
  }
  const std::map<uint32_t, uint32_t>& all() const { return pids_; }

 private:
  std::map<uint32_t, uint32_t> pids_;  // by number
};

class RecordWatch : public ForwardingObserver {
 public:
  RecordWatch(const SnapshotCondition& condition, ConditionHelp help, std::initializer_list<uint32_t> kinds)
      : condition_(condition), help_(std::move(help)) {
    for (const uint32_t kind : kinds) wanted_ |= uint64_t{1} << kind;
  }

  void began(const Process& process) override {
    pids_.began(process);
    ForwardingObserver::began(process);
  }
  void records(uint32_t process, std::span<const uint8_t> chunk) override {
    const penna_chunk header = header_of(chunk);
    const OpenTimes::Thread thread{process, header.thread_serial, header.tid};
    RecordCursor(chunk).pass_all([&](uint32_t kind, auto&& record) {
      if (kind < 64 && (wanted_ >> kind & 1) != 0) see(thread, record());
    });
    ForwardingObserver::records(process, chunk);
  }
  void ended(const ProcessEnd& end) override {
    forget(end.number);
    pids_.ended(end.number);
    ForwardingObserver::ended(end);
  }

 protected:
  virtual void see(const OpenTimes::Thread& thread, const Record& record) = 0;
  virtual void forget(uint32_t process) = 0;

  // `how`: "waited 120 ms for a lock".
  void report(const OpenTimes::Thread& thread, const std::string& how, uint64_t ticks) {
    help_.report(
        {fmt::format("{}: thread {} of process {} {}", condition_.text, thread.tid, pids_.pid(thread.process), how),
         ticks});
  }
  bool lives(const OpenTimes::Thread& thread) const {
    return help_.thread_lives == nullptr || help_.thread_lives(pids_.pid(thread.process), thread.tid);
  }

  SnapshotCondition condition_;
  ConditionHelp help_;
  KnownPids pids_;

 private:
  uint64_t wanted_ = 0;  // bits of kinds
};

}  // namespace penna
