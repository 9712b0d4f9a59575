// SPDX-License-Identifier: MIT
// SqlSource: one of a query's recordings, with the mapping from its numbers to those of the tables.
//
// Why our own numbers: threads, calls and stacks of several recordings are in one table, and each must be identified by
// one column. Invariant: an id refers to one thing only, whatever the order in which tables are read; the first
// recording has the same ids as when it is queried by itself. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "model/events/events.h"
#include "model/events/summary.h"
#include "model/names/names.h"
#include "recording/reader.h"

namespace penna {

struct Analyses;

// A function as shown in tables. The texts stay valid as long as the source; valid UTF-8.
struct SqlFunction {
  std::string_view function, module, file;
  uint32_t line = 0;  // 0: unknown
};

class SqlSource {
 public:
  static constexpr size_t kMostRecordings = 100;
  static constexpr size_t kMostThreads = 1 << 20;  // of a recording; likewise for processes

  // The error: it has more threads or processes than ids can express.
  static Result<std::unique_ptr<SqlSource>> open(std::shared_ptr<const Recording> recording, uint32_t number,
                                                 std::unique_ptr<SymbolSource> symbols, NameStyle style);
  ~SqlSource();

  const Recording& recording() const { return *recording_; }
  const Summary& summary() const { return summary_; }
  int64_t number() const { return number_; }

  int64_t thread_id(uint32_t thread) const { return high_ | thread; }
  int64_t process_id(uint32_t process) const { return high_ | process; }
  int64_t call_id(uint32_t thread, uint32_t sequence) const {
    return high_ | static_cast<int64_t>(uint64_t{thread} << 32 | sequence);
  }
  int64_t stack_id(uint32_t process, uint32_t stack) const {
    return high_ | static_cast<int64_t>(uint64_t{process} << 32 | stack);
  }
  // The inverse; false: of another recording.
  bool thread_of(int64_t id, uint32_t* thread) const;

  int64_t time_ns(uint64_t ticks) const { return recording_->time().monotonic_ns(ticks) - first_ns_; }
  int64_t utc_ns(uint64_t ticks) const { return recording_->time().realtime_ns(ticks); }
  int64_t duration_ns(uint64_t begin, uint64_t end) const { return recording_->time().duration_ns(begin, end); }

  // A scan could not read this many chunks.
  void add_unreadable(uint64_t chunks) {
    if (chunks != 0) met_unreadable_ = true;
  }
  // What the scans could not read, each chunk once. They are not counted together, since several read the same chunks:
  // if any met a bad one, a walk over all events counts.
  WalkReport walk() const;

  // use(Names&), under the lock.
  template <typename Use>
  auto with_names(Use&& use) {
    const std::lock_guard lock(names_lock_);
    return use(names_);
  }
  // The same with fresh Names.
  template <typename Use>
  auto with_new_names(Use&& use) {
    const std::lock_guard lock(names_lock_);
    Names names(*recording_, *symbols_, names_.style());
    return use(names);
  }
  // The function that begins at a place.
  SqlFunction function(const CodePlace& place);
  // The function held responsible for an allocation or a wait, from its stack; empty: unknown. See Names::origin().
  std::string_view origin(uint32_t process, uint32_t stack, bool (*is_way_too)(std::string_view) = nullptr);
  // As in `penna report locks`. The number is that of a HolderTracker for all threads that has read, in time order, the
  // recording's lock and allocation events. The first call reads them all: where a lock lies is known only then.
  std::string_view lock_name(uint32_t object);

 private:
  SqlSource(std::shared_ptr<const Recording> recording, uint32_t number, std::unique_ptr<SymbolSource> symbols,
            NameStyle style);
  std::string_view kept(const std::string& text);  // the caller holds names_lock_

  std::shared_ptr<const Recording> recording_;
  std::unique_ptr<SymbolSource> symbols_;
  Summary summary_;
  int64_t number_, high_, first_ns_;
  std::atomic<bool> met_unreadable_ = false;
  std::mutex names_lock_;
  Names names_;
  TextMap<std::unique_ptr<const std::string>> texts_;  // keyed by themselves, as valid UTF-8
  NumberMap<std::string_view> origins_;                // by process and stack; those of waits separate
  NumberMap<std::string_view> wait_origins_;
  std::unique_ptr<const Analyses> locks_;   // of locks; null: not needed so far
  NumberMap<std::string_view> lock_names_;  // by object
};

}  // namespace penna
