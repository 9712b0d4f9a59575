// SPDX-License-Identifier: MIT
// LiveFeed: passes what a collector collects to a thread that shows it.
//
// Why a queue: the collector must not wait for a terminal, or targets wait for the collector.
// Invariant: at most kMaxBytes of records wait here. Beyond that records are dropped, except descriptions, of which the
// same amount again may wait; drops are counted, and reported with the next records of that thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "collect/observer.h"

namespace penna {

// A copy of what the collector drained: targets reuse chunks at once.
struct LiveRecords {
  uint32_t process = 0;         // number
  std::vector<uint8_t> chunk;   // for a RecordCursor
  uint64_t calls_dropped = 0;   // before these
  uint64_t others_dropped = 0;  // events that are no calls, and descriptions
};
struct LiveStacks {
  uint32_t process = 0, first = 0;
  std::vector<penna_stack_node> nodes;
};
// Everything that came between two calls of take(). Process in this order: processes before their records, records
// before their ends.
struct LiveBatch {
  std::vector<Process> began;
  std::vector<LiveStacks> stacks;
  std::vector<LiveRecords> records;  // each thread's in order
  std::vector<ProcessEnd> ended;
  size_t bytes = 0;      // of records
  size_t described = 0;  // bytes of the descriptions kept
};

class LiveFeed : public Observer {
 public:
  static constexpr size_t kMaxBytes = 16 << 20;

  void began(const Process& process) override;
  void records(uint32_t process, std::span<const uint8_t> chunk) override;
  void stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) override;
  void ended(const ProcessEnd& end) override;
  void up_to_date() override;
  // Events of the thread that are shown to no observer, before its next records.
  void left_out(uint32_t process, uint32_t thread_serial, uint64_t calls, uint64_t others);

  // Waits until the collector is up to date again. False: it has stopped, and this is the last batch.
  bool take(LiveBatch& batch);
  // The collector has stopped.
  void close();
  // There is no observer any more: from here on everything is dropped at once.
  void turn_off() { off_.store(true, std::memory_order_relaxed); }

 private:
  struct Dropped {
    uint64_t calls = 0, others = 0;
  };
  void report_dropped(uint32_t process);

  std::atomic<bool> off_{false};
  std::mutex mutex_;  // guards everything below
  std::condition_variable came_;
  LiveBatch waiting_;
  std::map<std::pair<uint32_t, uint32_t>, Dropped> dropped_;  // not reported yet, by process and thread serial
  bool fresh_ = false, closed_ = false;
};

}  // namespace penna
