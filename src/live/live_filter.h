// SPDX-License-Identifier: MIT
// LiveFilter: what the filters keep of the records that an onlooker is given, in front of everything that shows them.
//
// Why not what the recorder's filter leaves: that works on whole chunks, and keeps what only a later one decides.
// Invariant: the records of a thread stay in order; behind a call whose length is not known yet they wait, at most
// kMostHeld bytes of all threads. What would be more is dropped, and told as records that came too fast.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "filter/call_sieve.h"
#include "filter/point_selection.h"
#include "live/live_feed.h"
#include "recording/thread_choice.h"

namespace penna {

class LiveFilter {
 public:
  static constexpr size_t kMostHeld = 32 << 20;

  // Null when nothing is to be left out. `rules`: live_rules().
  static std::unique_ptr<LiveFilter> make(CallRules rules, std::vector<Where> conditions, ThreadChoice threads = {});
  LiveFilter(const LiveFilter&) = delete;
  LiveFilter& operator=(const LiveFilter&) = delete;

  // In front of its records. The first one's start is that of a range.
  void began(const Process& process);
  // The modules and sites that records describe: before records of others, who may meet them, are added.
  void learn(const LiveRecords& records);

  // Each appends to `out` what is now known to be kept.
  void add(LiveRecords records, std::vector<LiveRecords>& out);
  // Threads have told nothing else until `ticks`: calls that go on for so long are kept.
  void wait_until(uint64_t ticks, std::vector<LiveRecords>& out);
  // No records of this process will come.
  void end(uint32_t process, std::vector<LiveRecords>& out);

 private:
  // A chunk for which the sieve has not decided everything yet.
  struct Waiting {
    std::vector<uint8_t> bytes;
    bool is_cut = false;  // they are what stays
  };
  struct Thread {
    CallSieve sieve;
    std::deque<Waiting> waiting;  // what the sieve has not given back
  };
  using Key = std::pair<uint32_t, uint32_t>;  // number of the process, thread serial

  LiveFilter(CallRules rules, std::vector<Where> conditions, ThreadChoice threads);
  void give(Key key, Thread& thread, std::vector<LiveRecords>& out);
  void cut_decided(Thread& thread);
  void drop(Key key, Thread& thread, std::vector<LiveRecords>& out);
  void select_points(uint32_t process, std::vector<uint8_t>& chunk);
  void select_thread(uint32_t process, std::vector<uint8_t>& chunk);

  CallRules rules_;
  std::shared_ptr<const std::vector<Where>> conditions_;
  bool has_start_ = false;
  std::shared_ptr<const ThreadChoice> wanted_;      // null: all
  std::map<uint32_t, PointSelection> points_;       // by process
  std::map<uint32_t, ThreadSelection> selections_;  // the same
  std::set<uint32_t> forked_;                       // processes
  std::map<Key, std::unique_ptr<Thread>> threads_;
  size_t held_ = 0;  // bytes, of all threads
};

}  // namespace penna
