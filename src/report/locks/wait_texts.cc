// SPDX-License-Identifier: MIT
// See wait_texts.h.
#include "report/locks/wait_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/frames.h"
#include "report/reports.h"

namespace penna {

// Words for messages; unlike lock_kind_name(), which returns values of a column.
const char* sync_text(penna_sync sync) {
  switch (sync) {
    case PENNA_SYNC_MUTEX: return "mutex";
    case PENNA_SYNC_READ:
    case PENNA_SYNC_WRITE: return "rwlock";
    case PENNA_SYNC_SPIN: return "spinlock";
    case PENNA_SYNC_SEMAPHORE: return "semaphore";
    case PENNA_SYNC_CONDITION: return "condition variable";
    case PENNA_SYNC_BARRIER: return "barrier";
    case PENNA_SYNC_ONCE: return "once";
    case PENNA_SYNC_JOIN: return "join";
    case PENNA_SYNC_FUTEX: return "futex";
    case PENNA_SYNC_OWN: return "own lock";
    default: return "lock";
  }
}

// The same lock in the statistics, which know more names. Several locks may have followed one another at an address:
// this is the last one that began before. Linear, but rarely needed.
const LockStats* WaitTexts::stats_of(const SyncObject& object) const {
  if (locks_ == nullptr) return nullptr;
  const LockStats* found = nullptr;
  for (const LockStats& lock : locks_->all())
    if (lock.address == object.address && lock.process == object.process && lock.kind == lock_kind(object.sync) &&
        lock.first_time <= object.first_time)
      found = &lock;
  return found;
}

// From the best name to the worst, as in LockNames, preceded by the kind: objects of different kinds may follow one
// another at an address.
std::string WaitTexts::object(uint32_t index) const {
  if (index == kNoIndex) return "others";
  const SyncObject& object = held_.objects()[index];
  if (object.sync == PENNA_SYNC_JOIN) {  // known while a thread waits for it
    const uint32_t joined = held_.holder(index).thread;
    return joined == kNoIndex ? "the end of a thread" : "the end of " + thread(joined);
  }
  const std::string kind = sync_text(object.sync);
  if (auto name = names_.variable(object.process, object.address, object.first_time))
    return fmt::format("{} `{}`", kind, *name);
  const LockStats* lock = stats_of(object);
  if (lock == nullptr)
    return fmt::format("{} at {}", kind, names_.data(object.process, object.address, object.first_time));
  const std::string name = lock_names_(*lock);
  const bool is_place = name.find(' ') == std::string::npos;  // its address, or its place in a file
  return fmt::format("{}{} {}", kind, is_place ? " at" : "", name);
}

std::string WaitTexts::thread(uint32_t index) const {
  if (index == kNoIndex) return "an unknown thread";
  const RecordedThread& thread = recording().threads()[index];
  return thread_label(recording(), thread.process, thread.tid);
}

void WaitTexts::add_stack(std::vector<TableDetail>& details, const std::string& line, uint32_t process,
                          uint32_t stack) const {
  if (stack == 0) {
    details.push_back({line + " (stack not recorded)", ""});
    return;
  }
  details.push_back({line, ""});
  std::vector<TableDetail> frames = stack_details(process, stack, names_);
  // "1 more" would take the line of the frame that it hides.
  const size_t most = frames.size() == frames_ + 1 ? frames.size() : std::min(frames_, frames.size());
  for (size_t i = 0; i < most; ++i) details.push_back({"  " + frames[i].text, frames[i].where});
  if (most < frames.size()) details.push_back({fmt::format("  ... {} more", frames.size() - most), ""});
}

int64_t WaitTexts::since_start(uint64_t ticks) const {
  return ticks <= start_ ? 0 : recording().time().duration_ns(start_, ticks);
}

}  // namespace penna
