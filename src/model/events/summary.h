// SPDX-License-Identifier: MIT
// Summary: what a recording contains, from its metadata only: no chunk is decoded.
//
// Invariant: every number is what the file says; what is missing is marked, not guessed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "recording/process_parents.h"
#include "recording/reader.h"

namespace penna {

using EventCounts = std::array<uint64_t, PENNA_CLASS_COUNT>;
const char* class_name(uint32_t event_class);  // "calls", "alloc", "locks", "points"
// Of calls where only entries and exits together are known: as if each had both.
constexpr uint64_t paired_calls(uint64_t events) { return events < kMostCounted ? (events + 1) / 2 : events; }
// "1,204 calls, 88 allocation events"; "nothing" for none. Without `calls`: paired_calls().
std::string events_text(const EventCounts& counts, uint64_t calls);
std::string events_text(const EventCounts& counts);

// For --thread while recording: how many threads got a matching name too late.
std::string late_threads_text(uint64_t threads);
// "2 snapshots were taken; 1,204 calls before, between and after them were thrown away".
std::string snapshots_text(uint64_t snapshots, const EventCounts& thrown_away);

struct ThreadSummary {
  uint32_t thread = 0;   // index
  uint32_t process = 0;  // index
  uint32_t tid = 0;
  std::string name;                        // the last one; "" without one
  EventCounts events{};                    // in the file
  uint64_t calls = 0;                      // entries among them
  EventCounts lost{};                      // as the thread reported; what it could not report is in its process's
  uint64_t first_time = 0, last_time = 0;  // ticks of its first and last record; 0 without records
  uint64_t chunks = 0;
  uint64_t missing_chunks = 0;  // gaps in its chunk numbers
  uint64_t torn = 0, holes = 0, damaged = 0;
  uint64_t blocked_ticks = 0;  // spent waiting for room
  bool has_health = false;     // false: lost, holes and blocked_ticks are unknown
  bool blocked_known = false;  // false: its process waited longer than its threads reported, and it may have, too
  uint64_t total_events() const;
};

struct ProcessSummary {
  uint32_t process = 0;  // index
  uint32_t number = 0, pid = 0, parent_pid = 0;
  bool announced = false;        // false: only its events are known
  uint32_t parent = UINT32_MAX;  // index of the process it was forked from or that ran the exec; UINT32_MAX = unknown
  bool after_exec = false;
  std::string name;  // process_name()
  std::vector<std::string> command;
  EventCounts events{}, lost{};
  uint64_t calls = 0;              // entries
  uint64_t unattributed_lost = 0;  // of `lost`: by threads that ended before they had room to report it
  uint64_t first_time = 0,
           last_time = 0;  // ticks: its begin and end, or if unknown, those of its records
  uint32_t threads = 0;
  bool ended = false;
  EndKind how = EndKind::kUnknown;
  int32_t code = 0;
  std::string end_text;  // "exited with 7", "killed by SIGSEGV", "became another program", ...
};

struct Summary {
  std::vector<ProcessSummary> processes;  // by index
  std::vector<ThreadSummary> threads;     // by index
  EventCounts events{}, lost{};
  uint64_t calls = 0;                      // entries: a call counts once, whether it ended or not
  uint64_t first_time = 0, last_time = 0;  // ticks
  int64_t duration_ns = 0;
  uint64_t total_events() const;
  uint64_t total_lost() const;
};

Summary summarize(const Recording& recording);
// Events that are in no chunk: lost in the target, or on the way into the file.
uint64_t all_lost(const Recording& recording, const Summary& summary);

// By process (index), in ticks: up to when calls, holds and waits count that are open at the end. To the end of their
// process, or of the recording if that of the process is unknown, or of the range that is read if that comes before.
std::vector<uint64_t> open_ends(const Recording& recording, const Summary& summary);

// "exited with 7", "killed by SIGSEGV".
std::string end_text(const ProcessEnd& end);

// What people call a process: the last part of the name that it was started by, so that a link to a program counts
// (redis-server is a link to redis-check-rdb); or that of its executable if its arguments hold no such name.
std::string process_name(const Process& process);

// How many ancestors of a process are searched for locks: processes that keep forking from each other share little.
inline constexpr int kMostAncestors = 16;

// Whether a thread starts out inside functions that its process's parent entered: the first one after a fork.
bool continues_after_fork(const Recording& recording, uint32_t thread);

// How long, in ticks, the parent may have gone on after the fork before its child's first sign of life: a child reports
// its beginning once it runs, which on a busy machine is late.
uint64_t fork_slack(const Recording& recording);

}  // namespace penna
