// SPDX-License-Identifier: MIT
// The contents of a recording's blocks as plain values: the writer's input and the reader's output.
//
// Why: one vocabulary for both sides. Invariant: passive data; everything from a file or a target is unchecked text and
// numbers, but every container in it is bounded by the size of what it was read from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/count_text.h"
#include "penna/channel.h"
#include "penna/event.h"

namespace penna {

// By penna_event_class: the names used by command lines and tables.
inline constexpr const char* kClassNames[PENNA_CLASS_COUNT] = {
#define PENNA_EVENT_CLASS(number, upper, name, one, many, article) name,
#include "penna/classes.inc"
#undef PENNA_EVENT_CLASS
};
// The nouns for its events: "call", "calls", "a call".
struct ClassNouns {
  const char *one, *many, *with_article;
};
inline constexpr ClassNouns kClassNouns[PENNA_CLASS_COUNT] = {
#define PENNA_EVENT_CLASS(number, upper, name, one, many, article) {one, many, article " " one},
#include "penna/classes.inc"
#undef PENNA_EVENT_CLASS
};

// In Session::options: calls of all functions were requested.
inline constexpr const char* kAllFunctionsWord = "all-functions";
// Likewise: the first process was running already (-p).
inline constexpr const char* kAttachedWord = "attached";

// One moment on three clocks: ticks as from penna_now(), nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME.
struct ClockTriplet {
  uint64_t ticks = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
};

struct Session {
  std::string penna_version;
  std::vector<std::string> command;  // as given to penna record; when attached, that of the first process
  uint32_t command_cut = 0;          // arguments left out because the list was too long
  std::string cwd;
  std::string host;
  std::string kernel;                // release and version, as from uname
  std::string machine;               // "x86_64"
  std::string cpu;                   // model name
  std::vector<std::string> options;  // the recorder's, for display
  uint32_t options_cut = 0;
  uint32_t cpu_count = 0;
  uint32_t page_size = 0;
  uint32_t recorder_pid = 0;
  uint32_t classes = 0;           // bit mask of the penna_event_class values requested
  uint64_t ticks_per_second = 0;  // according to the kernel or the CPU; 0 = unknown
  uint32_t clock_flags = 0;       // SessionClock
  ClockTriplet start;
  uint32_t time_shift = 0;  // times of records are multiples of 2^time_shift ticks, rounded down
};
// Whether it was recorded with this option.
inline bool has_option(const Session& session, std::string_view word) {
  return std::find(session.options.begin(), session.options.end(), word) != session.options.end();
}
// Present in the options of a session that penna import made: there was no recorder.
inline constexpr char kImportedFromStream[] = "imported from a stream";
enum SessionClock : uint32_t { kClockInvariant = 1 /* the CPU promises a constant rate in all states */ };

struct Process {
  uint32_t number = 0;  // in this recording; unlike pids, never reused
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  bool after_exec = false;  // a new program in the preceding process of the same pid; else a fork or the first
  std::string executable;
  std::vector<std::string> command;
  uint32_t command_cut = 0;
  uint64_t start_ticks = 0;
  uint32_t forked_by = 0;   // serial of the parent's thread; 0: not forked, or unknown
  uint64_t fork_ticks = 0;  // the parent thread's events up to here came before the fork
};

enum class EndKind : uint32_t {
  kUnknown = 0,
  kExited = 1,    // code = exit status
  kSignaled = 2,  // code = signal
  kExec = 3,      // became another program: the next process of the same pid
  kStopped = 4,   // still running: the recording was stopped
};

// What the recorder measured of a process's events (collect/event_costs.h).
struct EventCost {
  uint64_t events = 0;  // that it recorded, including those that filters left out
  uint64_t ps = 0;      // cost of one event; 0: not measured
};

// Adds a process's counters, as penna/health.inc says; arrays, threads and blocked_ticks are unchanged.
inline void add_counters(penna_counters& sums, const penna_counters& of_process) {
  constexpr bool kSum = false, kAny = true;
#define PENNA_HEALTH_TARGET(rank, field, how, ...) \
  sums.field = add_counts(sums.field, how ? uint64_t{of_process.field != 0} : of_process.field);
#include "penna/health.inc"
}

struct ProcessEnd {
  uint32_t number = 0;
  uint64_t end_ticks = 0;
  EndKind how = EndKind::kUnknown;
  int32_t code = 0;
  penna_counters counters{};  // as the target left them
  uint64_t cpu_ns = 0;        // processor time since the agent started, all threads; 0 = unknown
  std::array<EventCost, PENNA_CLASS_COUNT> costs{};
};

struct Thread {
  uint32_t serial = 0;  // in its process, from 1 (penna_chunk.thread_serial)
  uint32_t tid = 0;
  std::string name;
  uint64_t ticks = 0;  // from when on it had this name
};

struct Module {
  uint64_t bias = 0;   // run-time address - address in the file
  uint64_t start = 0;  // [start, end)
  uint64_t end = 0;
  uint32_t generation = 0;
  std::vector<uint8_t> build_id;
  std::string path;
  uint64_t ticks = 0;  // from when on it was mapped
  bool operator==(const Module&) const = default;
};

// The names of places in a file at the end of the recording.
struct FileNames {
  enum Flag : uint32_t {
    kData = 1,   // a variable's place, else code
    kEntry = 2,  // where a process begins: it has no caller
    kStart = 4,  // `start` is known
  };
  struct Frame {
    uint32_t function = 0, file = 0;  // in `texts`; function: empty if unnamed
    uint32_t line = 0;                // 0 = unknown
    uint32_t inlined = 0;             // into the next frame
  };
  struct Place {
    uint64_t address = 0;  // in the file's numbering; for a call in a stack, of the byte before the return address
    uint64_t start = 0;    // of the function or variable that contains it
    uint32_t flags = 0;    // Flag
    // Code: innermost inlined frame first. Data: one frame, with the variable, and in `file` its member there: ".next".
    std::vector<Frame> frames;
  };
  std::string path;
  std::vector<uint8_t> build_id;
  std::vector<std::string> texts;
  std::vector<Place> places;
};

struct SiteArgument {
  uint8_t type = 0;      // penna_arg_type; other values: unknown, 8 bytes
  std::string name;      // may be empty
  std::string format{};  // of a call's value: how to show it, as in penna_site_info; else empty
  bool is_stack() const { return format == "stack"; }
};

struct Site {
  uint32_t id = 0;
  uint32_t line = 0;
  uint64_t address = 0;
  std::string provider;
  std::string name;
  std::string file;
  std::vector<SiteArgument> arguments;
  uint8_t kind = PENNA_SITE_EVENT;  // penna_site_kind; other values: as an event
  bool is_of_call() const { return kind == PENNA_SITE_ARGUMENTS || kind == PENNA_SITE_RESULT; }
};

// The fate of one thread's events; thread_serial 0: the process. Sums since the start; a later one for the same serial
// replaces the earlier. What a thread could not report before it ended is only in its process's sums, so a process's
// `lost` and `blocked_ticks` cover all its threads and more; the other fields of a process cover only what belongs to
// no thread.
struct Health {
  static constexpr uint64_t kNotCounted = UINT64_MAX;  // by older recorders
  uint32_t thread_serial = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{};  // events handed to the file
  std::array<uint64_t, PENNA_CLASS_COUNT> lost{};  // of a thread: its LOST records; of a process: the target's counters
  uint64_t chunks = 0;
#define PENNA_HEALTH_RECORDER(rank, field, ...) uint64_t field = 0;
#include "penna/health.inc"
  uint64_t blocked_ticks = 0;  // waited for room; of a thread: its BLOCKED records; of a process: the target's counter
  uint64_t skipped = 0;        // chunk numbers absent from the file because the chunk was discarded (-T FUNC@snapshot)
  uint64_t call_entries = kNotCounted;  // among the `stored` calls: a call that did not end has no exit
};

// What a recorder's note says is not recorded: bits of event classes, and this one: related events are recorded, so
// that the data misleads (blocks whose frees are missing).
inline constexpr uint32_t kNoteOfHalf = 1u << 31;
inline constexpr uint32_t kNoteOfAllClasses = (1u << PENNA_CLASS_COUNT) - 1;

// The recorder's own health. A later one replaces the earlier.
struct CollectorHealth {
  uint64_t chunks = 0;  // drained
  uint64_t raw_bytes = 0;
  uint64_t processes = 0;
  uint64_t refused_channels = 0;  // processes whose channel could not be trusted or mapped
  uint64_t max_backlog = 0;       // most full chunks waiting at one time
  uint64_t cpu_ns = 0;            // used by the recorder
  std::array<uint64_t, PENNA_CLASS_COUNT>
      event_cost_ps{};             // measured cost of one event in the target; 0 = not measured
  std::vector<std::string> notes;  // sentences for the user: what was not recorded, and why
  uint32_t notes_cut = 0;
  uint64_t points_left_out = 0;                           // did not meet the conditions of --where
  uint64_t calls_left_out = 0;                            // by -F, --depth, --min-time and similar options
  uint64_t events_left_out = 0;                           // outside of --range
  uint64_t snapshots = 0;                                 // taken (-T FUNC@snapshot)
  std::array<uint64_t, PENNA_CLASS_COUNT> thrown_away{};  // events before and between them
  std::vector<uint32_t> missed_by_notes;                  // for each note; if shorter, the others miss nothing
  uint64_t finish_ticks = 0;     // first entry of a function of -T FUNC@finish, which ended the recording; 0: none
  uint64_t finish_process = 0;   // by its number
  uint64_t finish_pc = 0;        // of the function
  uint64_t others_left_out = 0;  // events of threads not chosen by --tid and --thread
  uint64_t late_threads = 0;     // chosen only after events of theirs had been left out
  // Of a snapshot that is a file of its own (--on):
  std::string snapshot_cause;         // what it was taken for; empty: this is no such file
  uint64_t snapshot_ticks = 0;        // when
  uint64_t snapshots_suppressed = 0;  // causes since the start for which none was taken, too soon after the last one
};

}  // namespace penna
