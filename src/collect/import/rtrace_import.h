// SPDX-License-Identifier: MIT
// RtraceImport: turns a trace in the text format of functracer and sp-rtrace into a recording of one process.
//
// The beginning of a line tells its kind:
//   version=2.0, arch=x86_64, timestamp=16.6.2011 15:49:48, process=./prog, pid=1597, backtrace depth=10, origin=...,
//   <1> : memory (memory allocation in bytes)       a kind of resource; only memory is imported
//   : /lib/libc.so => 0x7f0000-0x7f8000             a mapped file
//   0. [14:54:26.319] malloc(123) = 0x11008         an allocation; the time is optional, <kind> may follow the name
//   1. [14:54:26.320] free(0x11008)                 a free
//   <tab>0x85b3 in do_backtrace+0x18                a frame of the event before, innermost first
//   <tab>$tid = 1598                                an argument; tid is its thread, as written by penna export rtrace
// Times are times of day, in milliseconds. Events keep their order; among events with the same time, each is a
// nanosecond later than the one before. Function names in frames are ignored: a recording has addresses, and the names
// of files.
// Invariant: the text is untrusted. Whatever it contains, time and memory are linear in its size, every memory event is
// in the recording once, and what was skipped is counted.
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
  uint64_t other_resources = 0;  // events of files, threads and so on
  uint64_t damaged_lines = 0;    // lines that begin as an event, a frame or a mapped file, but are malformed
  uint64_t comments = 0;         // all other lines
};

class RtraceImport {
 public:
  // The error says why this is not such a trace.
  static Result<RtraceImport> open(std::string_view text);

  // Where and when it was recorded; the caller adds its own options.
  Session session() const;
  // Writes everything except the recording's end (RecordingWriter::finish()).
  RtraceSummary write(RecordingWriter& writer, const Session& session);

 private:
  struct Reader;
  explicit RtraceImport(std::string_view text) : text_(text) {}
  std::string_view text_;
  std::string process_, origin_, machine_;
  uint32_t pid_ = 0;
  uint32_t depth_ = 0;        // of stacks; 0: not stated
  uint64_t realtime_ns_ = 0;  // 0: not stated
};

}  // namespace penna
