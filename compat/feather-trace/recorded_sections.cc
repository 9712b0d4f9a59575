// SPDX-License-Identifier: MIT
// See recorded_sections.h.
#include "recorded_sections.h"

#include <algorithm>
#include <vector>

#include "model/events/lock_records.h"

namespace penna {
namespace {

// Whether one thread, or several readers, hold it until they release it.
bool has_sections(penna_sync sync) {
  return sync == PENNA_SYNC_MUTEX || sync == PENNA_SYNC_READ || sync == PENNA_SYNC_WRITE || sync == PENNA_SYNC_SPIN ||
         sync == PENNA_SYNC_OWN;
}

class SectionReader {
 public:
  SectionReader(const Recording& recording, SectionClock clock, CriticalSections& sections)
      : recording_(recording), clock_(clock), sections_(sections), threads_(recording.threads().size(), kNoIndex) {}

  void operator()(const Event& event) {
    if (event.record.kind == PENNA_KIND_LOST) {
      const bool of_locks = event.record.as<penna_lost>().count[PENNA_LOCKS] != 0;
      if (of_locks) threads_[event.thread] = kNoIndex;
      return;
    }
    const LockRecord lock = read_lock(event.record);
    switch (lock.action) {
      case LockAction::kTaken: return taken(event, lock);
      case LockAction::kWaited:
        if (lock.end == PENNA_WAIT_GOT || lock.end == PENNA_WAIT_OWNER_DIED) taken(event, lock);
        return;
      case LockAction::kConditionWaited: return taken(event, lock);  // the mutex was released before the wait
      case LockAction::kReleased:
        if (!has_sections(lock.sync)) return;
        found_.left_out += !sections_.released(thread(event), lock.address, time(event.time));
        return;
      default: return;
    }
  }
  RecordedSections& found() { return found_; }

 private:
  void taken(const Event& event, const LockRecord& lock) {
    if (!has_sections(lock.sync)) {
      ++found_.filtered;
      return;
    }
    found_.left_out += !sections_.taken(thread(event), lock.address, time(event.time));
  }
  uint32_t thread(const Event& event) {
    uint32_t& index = threads_[event.thread];
    if (index == kNoIndex) index = sections_.add_thread(recording_.threads()[event.thread].tid);
    return index;
  }
  uint64_t time(uint64_t ticks) {
    if (clock_ == SectionClock::kCycles) return ticks;
    const TimeMap& map = recording_.time();
    if (!began_) began_ = Begin{map.realtime_ns(ticks), map.monotonic_ns(ticks)};
    const int64_t ns = began_->realtime + (map.monotonic_ns(ticks) - began_->monotonic);
    return static_cast<uint64_t>(std::max<int64_t>(ns, 0)) / 1000;
  }

  struct Begin {
    int64_t realtime, monotonic;  // ns, of the first event
  };
  const Recording& recording_;
  SectionClock clock_;
  CriticalSections& sections_;
  std::vector<uint32_t> threads_;  // by index in the recording: index in `sections_`
  std::optional<Begin> began_;
  RecordedSections found_;
};

}  // namespace

RecordedSections read_sections(const Recording& recording, SectionClock clock, CriticalSections& sections) {
  SectionReader reader(recording, clock, sections);
  reader.found().walk = for_each_event(recording, {.classes = kLockEvents | kOtherRecords}, reader);
  sections.finish();
  return reader.found();
}

}  // namespace penna
