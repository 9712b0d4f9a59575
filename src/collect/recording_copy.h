// SPDX-License-Identifier: MIT
// RecordingCopy: copies recordings, or parts of them, into another one.
//
// Why at the level of blocks and chunks: a copy must contain what the file contains, even what no reader understands.
// Invariant: in each recording, a process's descriptions come before its chunks, and a thread's chunks keep their
// order; each chunk that is left out is counted in the thread's health (Health::skipped). Memory: one chunk.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/result.h"
#include "collect/chunk_sink.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace penna {

// Ticks, [begin, end). Chunks without a record in this range are left out, except for the calls that are open after
// them; others are copied whole.
struct CopiedTime {
  uint64_t begin = 0, end = std::numeric_limits<uint64_t>::max();
  bool any() const { return begin != 0 || end != std::numeric_limits<uint64_t>::max(); }
  bool holds(const ChunkRef& chunk) const { return chunk.time_end >= begin && chunk.time_begin < end; }
};

// What is wrong with the file, as text to follow its name ("is cut off"); empty: it is complete. A copy does not show
// it.
std::string why_incomplete(const Recording& recording);

class RecordingCopy {
 public:
  // The caller writes the session first, and the collector's health and the end last.
  explicit RecordingCopy(RecordingWriter& writer) : writer_(writer) {}

  // Adds all processes of `from` with their descriptions, numbered after those that were added before.
  Result<> add(const Recording& from, const CopiedTime& time = {});
  // Whether all of the recordings is in the copy; else a sentence for each that was incomplete, and of the chunks that
  // could not be read.
  const std::vector<std::string>& missing() const { return missing_; }
  void note_missing(CollectorHealth& health) const;

 private:
  using Sinks = std::vector<std::unique_ptr<ChunkSink>>;  // by process
  Result<> describe(const Recording& from, uint32_t process);
  Result<> copy_stacks(const Recording& from, uint32_t process);
  Result<> copy_chunks(const Recording& from, const CopiedTime& time, const Sinks& sinks);
  Result<> end_process(const Recording& from, uint32_t process, ChunkSink& sink);
  uint32_t number_of(const Recording& from, uint32_t process) const;

  RecordingWriter& writer_;
  uint32_t first_number_ = 0;  // of the processes of the recording being added
  std::vector<std::string> missing_;
};

}  // namespace penna
