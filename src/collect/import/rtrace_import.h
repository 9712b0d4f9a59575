// SPDX-License-Identifier: MIT
// RtraceImport: a trace in the text format of functracer and sp-rtrace becomes a recording of one process.
//
// A line is told by how it begins:
//   version=2.0, arch=x86_64, timestamp=16.6.2011 15:49:48, process=./prog, pid=1597, backtrace depth=10, origin=...,
//   <1> : memory (memory allocation in bytes)       a kind of resource; only memory is taken over
//   : /lib/libc.so => 0x7f0000-0x7f8000             a file in memory
//   0. [14:54:26.319] malloc(123) = 0x11008         an allocation; the time may be missing, <kind> may follow the name
//   1. [14:54:26.320] free(0x11008)                 a free
//   <tab>0x85b3 in do_backtrace+0x18                a frame of the event before, innermost first
//   <tab>$tid = 1598                                an argument; tid is its thread, as penna export rtrace writes it
// Times are of a day: milliseconds. Events keep their order; of those that have one time, each gets a nanosecond more.
// Names in frames are not taken over: a recording has addresses, and the files' names.
// Invariant: the text is untrusted. Whatever it holds, time and memory are linear in its size, every event of memory is
// in the recording once, and what was passed over is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collect/import/chunk_assembler.h"
#include "recording/types.h"

namespace penna {

struct RtraceSummary {
  std::array<uint64_t, PENNA_CLASS_COUNT> events{};
  uint64_t threads = 0;
  uint64_t other_resources = 0;  // events of files, threads, and so on
  uint64_t damaged_lines = 0;    // begin as an event, a frame or a file in memory, and are none
  uint64_t comments = 0;         // lines that say something else
};

class RtraceImport {
 public:
  // The error says why this is no such trace.
  static Result<RtraceImport> open(std::string_view text);

  // Where and when it was recorded; its options are the caller's to add.
  Session session() const;
  // Writes everything but the recording's end (RecordingWriter::finish()).
  RtraceSummary write(RecordingWriter& writer, const Session& session);

 private:
  struct Reader;
  explicit RtraceImport(std::string_view text) : text_(text) {}
  std::string_view text_;
  std::string process_, origin_, machine_;
  uint32_t pid_ = 0;
  uint32_t depth_ = 0;        // of stacks; 0: not said
  uint64_t realtime_ns_ = 0;  // 0: not said
};

}  // namespace penna
