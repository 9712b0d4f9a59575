// SPDX-License-Identifier: MIT
// LiveFeed: hands what a collector collects to a thread that shows it.
//
// Why a queue: the collector must not wait for a terminal, or targets wait for the collector.
// Invariant: at most kMaxBytes of records wait here. What comes beyond is dropped, but for what describes, of which as
// much may wait; what is dropped is counted, and the next records of that thread say so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "collect/onlooker.h"

namespace penna {

// A copy of what the collector drained: chunks are reused by the target at once.
struct LiveRecords {
  uint32_t process = 0;         // number
  std::vector<uint8_t> chunk;   // for a RecordCursor
  uint64_t calls_dropped = 0;   // in front of these
  uint64_t others_dropped = 0;  // events that are no calls, and descriptions
};
struct LiveStacks {
  uint32_t process = 0, first = 0;
  std::vector<penna_stack_node> nodes;
};
// All that came between two calls of take(). To be taken in this order: processes before their
// records, records before their ends.
struct LiveBatch {
  std::vector<Process> began;
  std::vector<LiveStacks> stacks;
  std::vector<LiveRecords> records;  // of each thread in its order
  std::vector<ProcessEnd> ended;
  size_t bytes = 0;      // of records
  size_t described = 0;  // of what is kept of others
};

class LiveFeed : public Onlooker {
 public:
  static constexpr size_t kMaxBytes = 16 << 20;

  void began(const Process& process) override;
  void records(uint32_t process, std::span<const uint8_t> chunk) override;
  void stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) override;
  void ended(const ProcessEnd& end) override;
  void up_to_date() override;
  // Events of the thread that come to nobody, in front of its next records.
  void left_out(uint32_t process, uint32_t thread_serial, uint64_t calls, uint64_t others);

  // Waits until the collector was up to date once more. False: it has stopped, and this is the last batch.
  bool take(LiveBatch& batch);
  // The collector has stopped.
  void close();
  // Nobody looks on any more: from here on everything is dropped at once.
  void turn_off() { off_.store(true, std::memory_order_relaxed); }

 private:
  struct Dropped {
    uint64_t calls = 0, others = 0;
  };
  void report_dropped(uint32_t process);

  std::atomic<bool> off_{false};
  std::mutex mutex_;  // guards all below
  std::condition_variable came_;
  LiveBatch waiting_;
  std::map<std::pair<uint32_t, uint32_t>, Dropped> dropped_;  // not told yet, by process and thread serial
  bool fresh_ = false, closed_ = false;
};

}  // namespace penna
