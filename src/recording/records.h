// SPDX-License-Identifier: MIT
// RecordCursor: takes the records of one chunk apart (include/penna/event.h, channel.h). The hot loop of the collector
// and of every reader.
//
// Usage:  RecordCursor in(bytes); Record record; while (in.next(record)) switch (record.kind) {...}
// Invariant: the bytes are untrusted. The cursor never reads outside them, always ends, and counts what it passes over.
// The bytes must not change meanwhile: copy a chunk out of shared memory first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "penna/channel.h"
#include "penna/event.h"
#include "recording/types.h"

namespace penna {

// The class of events a kind of record belongs to; PENNA_CLASS_COUNT for those that are no events (modules, names, ...).
// A failed realloc is none: it takes back the event in front of it.
penna_event_class classify(uint32_t kind);

// A record in place. Valid as long as the chunk's bytes.
struct Record {
  uint32_t kind = 0;  // penna_kind; both forms of a call come as PENNA_KIND_CALL_ENTRY and _EXIT; may be unknown
  uint32_t payload_bytes = 0;
  uint64_t time = 0;                 // ticks, whole
  uint64_t pc = 0;                   // of a call; else 0
  const uint8_t* payload = nullptr;  // null for a compact call

  bool is_call() const { return kind == PENNA_KIND_CALL_ENTRY || kind == PENNA_KIND_CALL_EXIT; }

  // The payload struct. The cursor has checked that a known kind has at least its struct's size; were it shorter, the
  // rest is zero.
  template <typename T>
  T as() const {
    T value{};
    std::memcpy(&value, payload, payload_bytes < sizeof(T) ? payload_bytes : sizeof(T));
    return value;
  }
  // What follows the payload struct T: a module's path, a site's strings, a point's arguments.
  template <typename T>
  std::span<const uint8_t> after() const {
    if (payload_bytes <= sizeof(T)) return {};
    return {payload + sizeof(T), payload_bytes - sizeof(T)};
  }
};

class RecordCursor {
 public:
  // `chunk`: penna_chunk and what follows it, at most PENNA_CHUNK_BYTES are looked at. Shorter than a penna_chunk:
  // no records, damaged().
  explicit RecordCursor(std::span<const uint8_t> chunk);

  // The next committed record in `record`, or false at the end or at damage. PADs, torn records and holes are passed over.
  bool next(Record& record);

  const penna_chunk& header() const { return header_; }
  // The end of the content in bytes from the start of the chunk: as the header says, or, where it does not say (a chunk
  // that was never given away), behind the last word that is not zero.
  size_t content_end() const { return end_; }
  size_t position() const { return at_; }  // of the next record

  uint32_t torn() const { return torn_; }            // records begun and not finished (busy)
  uint32_t holes() const { return holes_; }          // runs of zero words between records: reserved, nothing written
  size_t first_open() const { return first_open_; }  // offset of the first torn record or hole; content_end() if none
  bool damaged() const { return damaged_; }          // next() stopped at position() because of an impossible header

 private:
  bool next_full(uint64_t header, Record& record);
  bool fail();

  const uint8_t* data_;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t time_begin_ = 0;
  uint64_t pc_high_ = 0;  // already shifted
  uint32_t torn_ = 0;
  uint32_t holes_ = 0;
  size_t first_open_ = 0;
  bool damaged_ = false;
  penna_chunk header_{};
};

// One pass over a chunk: what the collector must know of it.
struct ChunkSummary {
  size_t content_bytes = 0;  // header and records; 0 = not a chunk
  std::array<uint32_t, PENNA_CLASS_COUNT> events{};
  uint32_t records = 0;  // of all kinds
  uint32_t unknown = 0;  // of kinds that this version does not know
  uint32_t torn = 0;
  uint32_t holes = 0;
  size_t first_open = 0;  // offset of the first torn record or hole; content_bytes if none
  bool damaged = false;   // the records behind `damaged_at` could not be taken apart
  size_t damaged_at = 0;
  uint64_t time_begin = 0;  // the lowest and the highest time of a record; penna_chunk.time_begin when there is none
  uint64_t time_end = 0;

  bool complete() const { return torn == 0 && holes == 0 && !damaged; }
};
// `visit(const Record&)`, where given, sees every record on the way: the collector picks modules, sites and names.
ChunkSummary scan_chunk(std::span<const uint8_t> chunk);
template <typename Visit>
ChunkSummary scan_chunk(std::span<const uint8_t> chunk, Visit&& visit);

// Records that describe something, as values. Empty when the payload contradicts itself.
std::optional<Module> decode_module(const Record& record);
std::optional<Site> decode_site(const Record& record);
std::string decode_thread_name(const Record& record);

}  // namespace penna
