// SPDX-License-Identifier: MIT
// LiveFilter: applies the filters to the records that an observer receives, before everything that shows them.
//
// Why the recorder's filter is not enough: it works on whole chunks, and keeps what only a later one decides.
// Invariant: the records of a thread stay in order; after a call of unknown length they wait, at most kMostHeld bytes
// for all threads. Anything beyond is dropped, and reported as records that came too fast.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "filter/call_sieve.h"
#include "filter/point_selection.h"
#include "filter/thread_choice.h"
#include "live/live_feed.h"

namespace penna {

class LiveFilter {
 public:
  static constexpr size_t kMostHeld = 32 << 20;

  // Null if nothing is to be left out. `rules`: live_rules().
  static std::unique_ptr<LiveFilter> make(CallRules rules, std::vector<Where> conditions, ThreadChoice threads = {});
  LiveFilter(const LiveFilter&) = delete;
  LiveFilter& operator=(const LiveFilter&) = delete;

  // Call before its records. A range starts when the first process does.
  void began(const Process& process);
  // The modules and sites that records describe: call before adding records of other threads, which may use them.
  void learn(const LiveRecords& records);

  // Each appends to `out` what is now known to be kept.
  void add(LiveRecords records, std::vector<LiveRecords>& out);
  // Threads have recorded nothing else until `ticks`: calls open that long are kept.
  void wait_until(uint64_t ticks, std::vector<LiveRecords>& out);
  // No more records of this process will come.
  void end(uint32_t process, std::vector<LiveRecords>& out);

 private:
  // A chunk that the sieve has not fully decided yet.
  struct Waiting {
    std::vector<uint8_t> bytes;
    bool is_cut = false;  // they are what remains
  };
  struct Thread {
    CallSieve sieve;
    std::deque<Waiting> waiting;  // what the sieve has not returned
  };
  using Key = std::pair<uint32_t, uint32_t>;  // process number, thread serial

  LiveFilter(CallRules rules, std::vector<Where> conditions, ThreadChoice threads);
  void release(Key key, Thread& thread, std::vector<LiveRecords>& out);
  void cut_decided(Thread& thread);
  void drop(Key key, Thread& thread, std::vector<LiveRecords>& out);
  void select_points(uint32_t process, std::vector<uint8_t>& chunk);
  void select_thread(uint32_t process, std::vector<uint8_t>& chunk);

  CallRules rules_;
  std::shared_ptr<const std::vector<Where>> conditions_;
  bool has_start_ = false;
  std::shared_ptr<const ThreadChoice> wanted_;      // null: all
  std::map<uint32_t, PointSelection> points_;       // by process
  std::map<uint32_t, ThreadSelection> selections_;  // likewise
  std::set<uint32_t> forked_;                       // processes
  std::map<Key, std::unique_ptr<Thread>> threads_;
  size_t held_ = 0;  // bytes, of all threads
};

}  // namespace penna
