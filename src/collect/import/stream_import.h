// SPDX-License-Identifier: MIT
// StreamImport: turns a stream of units (penna/stream.h), from a kernel or firmware, into chunks of a recording.
//
// Invariant: the bytes are untrusted. Whatever they contain, time and memory are linear in their number, every unit
// goes into the recording once, and everything else is counted as damage.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "collect/chunk_sink.h"
#include "collect/import/chunk_assembler.h"
#include "penna/stream.h"

namespace penna {

struct StreamSummary {
  uint64_t units = 0;    // written to the recording
  uint64_t threads = 0;  // threads that wrote them
  std::array<uint64_t, PENNA_CLASS_COUNT> events{}, lost{};
  uint64_t calls = 0;          // entries, included in `events`
  uint64_t damaged_bytes = 0;  // skipped
  uint64_t cut_bytes = 0;      // of an incomplete unit at the end
};

class StreamImport {
 public:
  // The error says why this is not a stream.
  static Result<StreamImport> open(std::span<const uint8_t> stream);

  const penna_stream_header& header() const { return header_; }
  std::string source() const;

  // Writes everything except the recording's end (RecordingWriter::finish()).
  StreamSummary write(RecordingWriter& writer, const Session& session);

 private:
  StreamImport(std::span<const uint8_t> stream, const penna_stream_header& header);
  // The size in bytes of the unit at `at`; 0 if there is none.
  size_t unit_at(size_t at) const;
  void take(RecordingWriter& writer, std::span<const uint8_t> unit);
  bool describes(RecordingWriter& writer, uint32_t thread, const Record& record);

  std::span<const uint8_t> stream_;
  penna_stream_header header_;
  std::unique_ptr<ChunkSink> sink_ = std::make_unique<ChunkSink>(0);
  ChunkAssembler chunks_{*sink_};
  // Time of the latest record so far; starts at the header's, from which the first record's 48 bits are extended.
  uint64_t now_;  // ticks
  StreamSummary summary_;
};

}  // namespace penna
