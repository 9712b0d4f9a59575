// SPDX-License-Identifier: MIT
// The contents of a recording's blocks as plain values: what the writer takes and the reader gives.
//
// Why: one vocabulary for both sides. Invariant: passive data; whatever comes from a file or a target is unchecked text
// and numbers, but every container in it is bounded by the size of what it was read from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "penna/channel.h"
#include "penna/event.h"

namespace penna {

// By penna_event_class: as command lines and tables call them.
inline constexpr const char* kClassNames[PENNA_CLASS_COUNT] = {
#define PENNA_EVENT_CLASS(number, upper, name, one, many, article) name,
#include "penna/classes.inc"
#undef PENNA_EVENT_CLASS
};
// And what its events are called: "call", "calls", "a call".
struct ClassNouns {
  const char *one, *many, *with_article;
};
inline constexpr ClassNouns kClassNouns[PENNA_CLASS_COUNT] = {
#define PENNA_EVENT_CLASS(number, upper, name, one, many, article) {one, many, article " " one},
#include "penna/classes.inc"
#undef PENNA_EVENT_CLASS
};

// Of Session::options: calls of all functions were asked for.
inline constexpr const char* kAllFunctionsWord = "all-functions";

// One moment on three clocks. Ticks are those of penna_now(); nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME.
struct ClockTriplet {
  uint64_t ticks = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
};

struct Session {
  std::string penna_version;
  std::vector<std::string> command;  // as given to penna record; empty when attached
  uint32_t command_cut = 0;          // arguments left out because the list was too long
  std::string cwd;
  std::string host;
  std::string kernel;                // release and version, as of uname
  std::string machine;               // "x86_64"
  std::string cpu;                   // model name
  std::vector<std::string> options;  // of the recorder, for people
  uint32_t options_cut = 0;
  uint32_t cpu_count = 0;
  uint32_t page_size = 0;
  uint32_t recorder_pid = 0;
  uint32_t classes = 0;           // bit mask of penna_event_class that were asked for
  uint64_t ticks_per_second = 0;  // as the kernel or the CPU says; 0 = unknown
  uint32_t clock_flags = 0;       // SessionClock
  ClockTriplet start;
  uint32_t time_shift = 0;  // times of records are multiples of 2^time_shift ticks, rounded down
};
// Stands among the options of a session that penna import made: there was no recorder.
inline constexpr char kImportedFromStream[] = "imported from a stream";
enum SessionClock : uint32_t { kClockInvariant = 1 /* the CPU promises a constant rate in all states */ };

struct Process {
  uint32_t number = 0;  // in this recording; pids are used again, numbers are not
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  bool after_exec = false;  // a new program in the process of the same pid before it; else a fork or the first
  std::string executable;
  std::vector<std::string> command;
  uint32_t command_cut = 0;
  uint64_t start_ticks = 0;
  uint32_t forked_by = 0;   // serial of the thread of its parent; 0: not forked, or not known
  uint64_t fork_ticks = 0;  // what that thread did until then came before the fork
};

enum class EndKind : uint32_t {
  kUnknown = 0,
  kExited = 1,    // code = exit status
  kSignaled = 2,  // code = signal
  kExec = 3,      // became another program: the next process of the same pid
  kStopped = 4,   // it goes on: the recording was stopped
};

// What the recorder measured of a process's events (collect/event_costs.h).
struct EventCost {
  uint64_t events = 0;  // that it recorded, also those that filters left out
  uint64_t ps = 0;      // of one of them; 0: not measured
};

// Adds what a process has counted, as penna/health.inc says; arrays, threads and blocked_ticks stay as they are.
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
  uint64_t cpu_ns = 0;        // processor time since the agent had started, all threads; 0 = not known
  std::array<EventCost, PENNA_CLASS_COUNT> costs{};
};

struct Thread {
  uint32_t serial = 0;  // in its process, from 1 (penna_chunk.thread_serial)
  uint32_t tid = 0;
  std::string name;
  uint64_t ticks = 0;  // from when on it has this name
};

struct Module {
  uint64_t bias = 0;   // run-time address - address in the file
  uint64_t start = 0;  // [start, end)
  uint64_t end = 0;
  uint32_t generation = 0;
  std::vector<uint8_t> build_id;
  std::string path;
  uint64_t ticks = 0;  // from when on it is there
};

// What places in a file were called when the recording ended.
struct FileNames {
  enum Flag : uint32_t {
    kData = 1,   // the place of a variable, else of code
    kEntry = 2,  // where a process begins: nothing called that
    kStart = 4,  // `start` is known
  };
  struct Frame {
    uint32_t function = 0, file = 0;  // in `texts`; function: empty where it has no name
    uint32_t line = 0;                // 0 = unknown
    uint32_t inlined = 0;             // into the frame behind it
  };
  struct Place {
    uint64_t address = 0;  // in the file's own numbering; of a call in a stack, of the byte before the return address
    uint64_t start = 0;    // of the function or the variable that holds it
    uint32_t flags = 0;    // Flag
    // Of code, the innermost inlined one first. Of data: one, with the variable and in `file` what lies there: ".next".
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
  std::string format{};  // of a call's value: how it is shown, as penna_site_info says; else empty
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

// What became of the events of one thread; thread_serial 0: of the process. Sums since the start; a later one for the
// same serial replaces the earlier. What a thread could not tell before it ended is only in the sums of its process, so
// `lost` and `blocked_ticks` of the process are those of all its threads and more; the other fields of a process are
// what belongs to none of its threads.
struct Health {
  uint32_t thread_serial = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{};  // events handed to the file
  std::array<uint64_t, PENNA_CLASS_COUNT> lost{};  // of a thread: its LOST records; of a process: the target's counters
  uint64_t chunks = 0;
#define PENNA_HEALTH_RECORDER(rank, field, ...) uint64_t field = 0;
#include "penna/health.inc"
  uint64_t blocked_ticks = 0;  // waited for room; of a thread: its BLOCKED records; of a process: the target's counter
  uint64_t skipped = 0;        // numbers that no chunk in the file has, because it was thrown away (-T FUNC@snapshot)
};

// What a note of the recorder says is not recorded: bits of event classes, and this one: others of the same things are,
// so that there seems to be what is not (blocks whose frees are missing).
inline constexpr uint32_t kNoteOfHalf = 1u << 31;
inline constexpr uint32_t kNoteOfAllClasses = (1u << PENNA_CLASS_COUNT) - 1;

// The recorder on itself. A later one replaces the earlier.
struct CollectorHealth {
  uint64_t chunks = 0;  // drained
  uint64_t raw_bytes = 0;
  uint64_t processes = 0;
  uint64_t refused_channels = 0;  // processes whose channel could not be trusted or mapped
  uint64_t max_backlog = 0;       // most full chunks that waited at one time
  uint64_t cpu_ns = 0;            // used by the recorder
  std::array<uint64_t, PENNA_CLASS_COUNT>
      event_cost_ps{};             // measured cost of one event in the target; 0 = not measured
  std::vector<std::string> notes;  // sentences for the user: what was not recorded, and why
  uint32_t notes_cut = 0;
  uint64_t points_left_out = 0;                           // they did not meet the conditions of --where
  uint64_t calls_left_out = 0;                            // by -F, --depth, --min-time and their kin
  uint64_t events_left_out = 0;                           // they happened outside of --range
  uint64_t snapshots = 0;                                 // that were taken (-T FUNC@snapshot)
  std::array<uint64_t, PENNA_CLASS_COUNT> thrown_away{};  // events before and between them
  std::vector<uint32_t> missed_by_notes;                  // of each note; fewer: the others miss nothing
  uint64_t finish_ticks =
      0;  // when a function of -T FUNC@finish was entered first, which has ended the recording; 0: none was
  uint64_t finish_process = 0;   // by its number
  uint64_t finish_pc = 0;        // of the function
  uint64_t others_left_out = 0;  // events of threads that are not meant by --tid and --thread
  uint64_t late_threads = 0;     // were meant only when events of theirs had been left out
};

}  // namespace penna
