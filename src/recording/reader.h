// SPDX-License-Identifier: MIT
// Recording: opens and reads a recording, even an unfinished, cut or damaged one.
//
// Why pread and no mapping: the file may be truncated while it is read, which raises SIGBUS in a mapping.
// Invariant: everything in the file is untrusted. open() returns what the valid blocks say and counts the rest in
// damage(); memory is bounded by the size of the file. After open() all methods are const and thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "recording/inherited_calls.h"
#include "recording/layout.h"
#include "recording/module_map.h"
#include "recording/records.h"
#include "recording/time_map.h"
#include "recording/types.h"

namespace penna {

struct Selection;

// Below, processes and threads are always named by their index in processes() and threads().
struct RecordedProcess {
  Process process;
  bool announced = false;                // false: its block is missing; only the number is known
  std::optional<ProcessEnd> end;         // empty: the recording ended before the process did
  std::vector<Module> modules;           // in order of announcement
  std::vector<Site> sites;               // sorted by id; the last description of an id wins
  std::vector<uint64_t> with_arguments;  // functions with a site of PENNA_SITE_ARGUMENTS: addresses, sorted
  Health health;                         // of events that belong to no thread
  std::vector<uint32_t> threads;         // indices, by serial
};

struct RecordedThread {
  uint32_t process = 0;  // index
  uint32_t serial = 0;
  uint32_t tid = 0;
  std::string name;           // the last nonempty one
  std::vector<Thread> names;  // all, in order of time
  bool has_health = false;
  Health health;
};

struct ChunkRef {
  uint32_t process = 0;                   // index
  uint32_t thread = 0;                    // index
  uint64_t sequence = 0;                  // among the chunks of the thread
  uint64_t time_begin = 0, time_end = 0;  // ticks: lowest and highest of its records
  std::array<uint32_t, PENNA_CLASS_COUNT> events{};
  uint64_t unknown_events = 0;  // of classes unknown to this version
  uint32_t torn = 0;
  bool damaged = false;  // already when it was written
  uint64_t offset = 0;   // of its block
  uint32_t raw_bytes = 0, stored_bytes = 0;
  uint32_t piece_at = 0, piece_bytes = 0;  // range in the block's payload; 0 bytes: all of it
};
// Whether nothing is missing between `before` (null: `chunk` is the first) and `chunk`, of one thread. The pieces of a
// chunk share one number.
inline bool comes_next(const ChunkRef* before, const ChunkRef& chunk) {
  return before == nullptr ? chunk.sequence == 0 : chunk.sequence - before->sequence <= 1;
}

// A frame of a stack.
struct StackNode {
  uint64_t pc = 0;          // return address
  uint16_t generation = 0;  // of the module map
  uint16_t depth = 0;
  uint32_t parent = 0;  // of a lower depth; 0 = the root, which is not a frame
  uint8_t end = 0;      // penna_stack_end; for a node of depth 1
  bool cut = false;     // its parent is not in the recording: outer frames are missing
};

// The parts that open() could not use.
struct Damage {
  uint64_t blocks = 0;          // recognisable blocks that were skipped: bad checksum, impossible contents
  uint64_t bytes = 0;           // in no valid block
  uint64_t unknown_blocks = 0;  // of types unknown to this version: not damage
  bool cut = false;             // the file ends within a block, or before its end
  bool header = false;          // the checksum of the file header or of the in-place area is wrong
  bool index = false;           // an index is expected and cannot be used
  bool any() const { return blocks != 0 || bytes != 0 || cut || header || index; }
  std::string text() const;  // one sentence; empty when !any()
};

class Recording {
 public:
  // Errors: unreadable, not a recording, or written by a newer version.
  static Result<Recording> open(const std::string& path);
  // `path`: the name to report.
  static Result<Recording> open(Fd file, const std::string& path);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  const std::string& path() const;
  uint64_t file_bytes() const;
  uint64_t created_ns() const;  // realtime
  std::array<uint8_t, 16> identity() const;
  bool is_finished() const;  // cleanly
  const Damage& damage() const;
  // Events that the writer could not write (full disk), and the errno of the first failure. All zero if everything was
  // written; empty if that part of the file is damaged.
  std::optional<layout::InPlace> write_failures() const;

  const Session& session() const;  // defaults when its block is missing
  std::span<const ClockTriplet> clocks() const;
  const TimeMap& time() const;
  std::span<const RecordedProcess> processes() const;   // in the order of their numbers
  std::span<const RecordedThread> threads() const;      // by process, serial; or number_threads()
  const ModuleMap& module_map(uint32_t process) const;  // over processes()[process].modules
  const Site* site(uint32_t process, uint32_t id) const;
  const CollectorHealth& collector() const;
  std::span<const FileNames> names() const;  // a file may occur several times, each time with other places

  // Gives threads these indices, from 0 on: pairs of a process's number and a serial. Those that are not among them
  // come behind, as they were. Before anything else is asked.
  void number_threads(std::span<const std::pair<uint32_t, uint32_t>> order);

  // What readers of events leave out (selection.h); null: nothing. The file itself knows nothing of it.
  void select(std::shared_ptr<const Selection> selection);
  const Selection* selection() const { return selection_.get(); }

  // Computed on first use: reads the threads that forked.
  const InheritedCalls& inherited_calls() const;

  // Empty if there is no such node (lost block, id 0). Walking parents until 0 always ends.
  std::optional<StackNode> stack_node(uint32_t process, uint32_t id) const;
  uint64_t stack_node_count(uint32_t process) const;
  // The process's first node at or after `id`; empty if there is none.
  std::optional<uint32_t> next_stack_node(uint32_t process, uint32_t id) const;

  std::span<const ChunkRef> chunks() const;                 // by thread, then sequence
  std::span<const ChunkRef> chunks(uint32_t thread) const;  // of one thread, by sequence

  // The chunk's bytes (penna_chunk and records, for a RecordCursor), at most PENNA_CHUNK_BYTES, in `out` (reused). The
  // error says what is wrong with the block.
  Result<> read_chunk(const ChunkRef& chunk, std::vector<uint8_t>& out) const;

 private:
  friend class LiveRecording;
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::shared_ptr<const Selection> selection_;
};

}  // namespace penna
