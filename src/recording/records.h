// SPDX-License-Identifier: MIT
// RecordCursor: decodes the records of one chunk (include/penna/event.h, channel.h). The hot loop of the collector and
// of every reader.
//
// Usage:  RecordCursor in(bytes); Record record; while (in.next(record)) switch (record.kind) {...}
// Invariant: the bytes are untrusted. The cursor never reads outside them, always ends, and counts what it skips. The
// bytes must not change meanwhile: copy a chunk out of shared memory first.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "penna/channel.h"
#include "penna/event.h"
#include "recording/types.h"

namespace penna {

// The payload of kinds without one (kinds.inc).
struct penna_none {};
template <typename Payload>
inline constexpr uint8_t kLeastPayload = std::is_empty_v<Payload> ? 0 : sizeof(Payload);
// Streams, and recordings of formats 1 and 2, have only the first four classes; Record::as() reads the others as zero.
template <>
inline constexpr uint8_t kLeastPayload<penna_lost> = 4 * sizeof(uint32_t);

// The event class that a kind of record belongs to; PENNA_NO_CLASS for records that are not events (modules, names,
// ...). Exactly the records that a target counts as lost events of that class if it has no room for them.
inline constexpr std::array<uint8_t, 64> kClassOfKind = [] {
  std::array<uint8_t, 64> classes{};
  for (auto& value : classes) value = PENNA_NO_CLASS;
#define PENNA_KIND(number, name, payload, event_class, word) classes[number] = PENNA_##event_class;
#include "penna/kinds.inc"
#undef PENNA_KIND
  return classes;
}();
inline penna_event_class classify(uint32_t kind) {
  return kind < kClassOfKind.size() ? static_cast<penna_event_class>(kClassOfKind[kind]) : PENNA_NO_CLASS;
}

// A copy of the header of a chunk, which must be at least that long.
inline penna_chunk header_of(std::span<const uint8_t> chunk) {
  penna_chunk header;
  std::memcpy(&header, chunk.data(), sizeof header);
  return header;
}

// The piece of an open chunk at the start of a kOpen block's payload: its header says how long it is. Empty: no piece
// starts there.
inline std::span<const uint8_t> first_piece(std::span<const uint8_t> payload) {
  if (payload.size() < sizeof(penna_chunk)) return {};
  const uint64_t bytes = header_of(payload).content_bits / 8;
  const bool is_piece = bytes >= sizeof(penna_chunk) && bytes <= PENNA_CHUNK_BYTES && bytes <= payload.size();
  return payload.first(is_piece ? bytes : 0);
}

// A record in place. Valid as long as the chunk's bytes.
struct Record {
  uint32_t kind = 0;  // penna_kind; both forms of a call come as PENNA_KIND_CALL_ENTRY and _EXIT; may be unknown
  uint32_t payload_bytes = 0;
  uint64_t time = 0;  // ticks, extended to full width
  uint64_t pc = 0;    // for a call; else 0
  const uint8_t* payload = nullptr;

  bool is_call() const { return kind == PENNA_KIND_CALL_ENTRY || kind == PENNA_KIND_CALL_EXIT; }
  bool changes_calls() const { return is_call() || kind == PENNA_KIND_JUMP; }  // affects which calls are open

  // The payload struct. The cursor has checked that a record of a known kind has at least its struct's size; if
  // shorter, the rest is zero.
  template <typename T>
  T as() const {
    T value{};
    if (payload_bytes >= sizeof(T)) [[likely]]
      std::memcpy(&value, payload, sizeof(T));
    else if (payload_bytes != 0)
      std::memcpy(&value, payload, payload_bytes);
    return value;
  }
  // The bytes after the payload struct T: a module's path, a site's strings, a point's arguments.
  template <typename T>
  std::span<const uint8_t> after() const {
    if (payload_bytes <= sizeof(T)) return {};
    return {payload + sizeof(T), payload_bytes - sizeof(T)};
  }
};

// A decoded call, for loops over many of them. `time`: ticks, raised to the preceding record's if it lies before it.
struct CallEvent {
  uint64_t time;
  uint64_t pc;
  bool is_entry;  // else an exit
};

class RecordCursor {
 public:
  // `chunk`: penna_chunk and what follows it; at most PENNA_CHUNK_BYTES are read. If shorter than a penna_chunk: no
  // records, damaged().
  explicit RecordCursor(std::span<const uint8_t> chunk);

  // The next committed record in `record`, or false at the end or at damage. Skips PADs, torn records and holes.
  bool next(Record& record);

  // The calls in compact form from here on, up to the first record that is something else, that lies at or after
  // `limit`, or for which `out` has no room. Returns how many. No time is below `floor`, the time of the record before.
  size_t next_calls(std::span<CallEvent> out, uint64_t floor, uint64_t limit);

  // What was counted on the way to the end or to damage.
  struct Tally {
    std::array<uint32_t, PENNA_CLASS_COUNT> events{};
    uint32_t entries = 0;                 // of calls, included in `events`
    uint32_t records = 0, unknown = 0;    // of all kinds; of kinds that this version does not know
    uint64_t low = UINT64_MAX, high = 0;  // times
  };
  // Goes over all remaining records. Calls `visit(kind, record)` for every record that is not a compact call; record()
  // returns it.
  template <typename Visit>
  Tally pass_all(Visit&& visit);

  const penna_chunk& header() const { return header_; }
  // The end of the content in bytes from the start of the chunk: as the header says, or, if it does not (a chunk that
  // was never handed over), after the last record; final only when next() has returned false.
  size_t content_end() const { return end_; }
  size_t position() const { return at_; }  // of the next record

  uint32_t torn() const { return torn_; }            // records begun but not finished (busy)
  uint32_t holes() const { return holes_; }          // runs of zero words: reserved, not written
  size_t first_open() const { return first_open_; }  // offset of the first torn record or hole; content_end() if none
  bool damaged() const { return damaged_; }          // next() stopped at position() because of an impossible header

 private:
  bool next_full(uint64_t header, Record& record);
  Record full_record(uint64_t header, size_t at) const;
  bool pass_over(uint64_t header);
  void note_open() { first_open_ = first_open_ < at_ ? first_open_ : at_; }

  const uint8_t* data_;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t pc_high_ = 0;  // shifted into place
  uint32_t torn_ = 0;
  uint32_t holes_ = 0;
  size_t first_open_ = 0;
  bool damaged_ = false;
  penna_chunk header_{};
};

inline uint64_t load_word(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline bool RecordCursor::next(Record& record) {
  while (at_ < end_) {
    uint64_t header = load_word(data_ + at_);
    uint32_t tag = penna_header_tag(header);
    if (tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT) [[likely]] {
      static_assert(PENNA_KIND_CALL_ENTRY == PENNA_TAG_ENTRY + 1 && PENNA_KIND_CALL_EXIT == PENNA_TAG_EXIT + 1);
      at_ += sizeof header;
      record.kind = tag + 1;
      record.payload_bytes = 0;
      record.time = penna_extend_time(header_.time_begin, static_cast<uint32_t>(header) >> 2, PENNA_CALL_TIME_BITS);
      record.pc = pc_high_ | header >> 32;
      record.payload = data_ + at_;
      return true;
    }
    if (next_full(header, record)) return true;
    if (!pass_over(header)) return false;
  }
  return false;
}

inline size_t RecordCursor::next_calls(std::span<CallEvent> out, uint64_t floor, uint64_t limit) {
  const uint8_t* from = data_ + at_;
  const uint64_t begin = header_.time_begin, pc_high = pc_high_;
  const size_t most = std::min(out.size(), at_ < end_ ? (end_ - at_) / sizeof(uint64_t) : 0);
  size_t count = 0;
  for (; count < most; ++count) {
    const uint64_t header = load_word(from + count * sizeof header);
    const uint32_t tag = penna_header_tag(header);
    if (tag != PENNA_TAG_ENTRY && tag != PENNA_TAG_EXIT) break;
    const uint64_t time = penna_extend_time(begin, static_cast<uint32_t>(header) >> 2, PENNA_CALL_TIME_BITS);
    if (time >= limit) break;
    floor = std::max(floor, time);
    out[count] = {floor, pc_high | header >> 32, tag == PENNA_TAG_ENTRY};
  }
  at_ += count * sizeof(uint64_t);
  return count;
}

// The minimum size in bytes of a committed record of each kind, with its header; no record has kind 0, and a PAD is not
// reported.
inline constexpr std::array<uint16_t, 64> kRecordBytes = [] {
  std::array<uint16_t, 64> bytes{};
  bytes.fill(sizeof(uint64_t));
#define PENNA_KIND(number, name, payload, event_class, word) bytes[number] += kLeastPayload<penna_##payload>;
#include "penna/kinds.inc"
#undef PENNA_KIND
  bytes[0] = bytes[PENNA_KIND_PAD] = UINT16_MAX;
  return bytes;
}();

inline Record RecordCursor::full_record(uint64_t header, size_t at) const {
  Record record;
  record.kind = penna_header_kind(header);
  record.payload_bytes = penna_header_words(header) * 8 - 8;
  record.time = penna_extend_time(header_.time_begin, header >> 16, PENNA_FULL_TIME_BITS);
  record.payload = data_ + at + 8;
  record.pc = record.is_call() ? load_word(record.payload) : 0;
  return record;
}

// A committed full record of plausible size that is no PAD; else false, and pass_over() finds out what it is.
inline bool RecordCursor::next_full(uint64_t header, Record& record) {
  const uint32_t kind = penna_header_kind(header);
  const size_t bytes = size_t{penna_header_words(header)} * 8;
  if (penna_header_tag(header) != PENNA_TAG_FULL || bytes < kRecordBytes[kind] || bytes > end_ - at_) return false;
  record = full_record(header, at_);
  at_ += bytes;
  return true;
}

// What a record of each kind adds to the counts by class, which are side by side in one word.
inline constexpr uint32_t kCountBits = 16;
inline constexpr std::array<uint64_t, 64> kCountOfKind = [] {
  static_assert(PENNA_CLASS_COUNT * kCountBits <= 64 && PENNA_CHUNK_BYTES / 8 < 1 << kCountBits);
  std::array<uint64_t, 64> counts{};
  for (size_t kind = 0; kind < counts.size(); ++kind)
    if (kClassOfKind[kind] < PENNA_CLASS_COUNT) counts[kind] = uint64_t{1} << kClassOfKind[kind] * kCountBits;
  return counts;
}();

// The first and the last of the times in headers, which are the upper kBits of a Word. They are ordered by their
// difference from the earliest time that penna_extend_time() returns; the bits below only decide between equal times.
template <typename Word, uint32_t kBits>
class TimesOfHeaders {
 public:
  // No time is before 0, except an invalid one, which is then the latest of all.
  explicit TimesOfHeaders(uint64_t begin)
      : begin_(begin), earliest_(begin >= uint64_t{1} << (kBits - 4) ? begin - (uint64_t{1} << (kBits - 4)) : 0) {}
  void add(uint64_t header) {
    const auto place = static_cast<Word>(header - (earliest_ << kBelow));
    least_ = std::min(least_, place);
    most_ = std::max(most_, place);
  }
  uint64_t low() const { return whole(least_); }
  uint64_t high() const { return whole(most_); }

 private:
  static constexpr uint32_t kBelow = 8 * sizeof(Word) - kBits;
  uint64_t whole(Word place) const { return penna_extend_time(begin_, earliest_ + (place >> kBelow), kBits); }

  uint64_t begin_, earliest_;
  Word least_ = static_cast<Word>(UINT64_MAX), most_ = 0;
};

// The position of the next record, the counts and the times are kept in registers: in memory, each record would wait
// for the previous one.
template <typename Visit>
RecordCursor::Tally RecordCursor::pass_all(Visit&& visit) {
  TimesOfHeaders<uint32_t, PENNA_CALL_TIME_BITS> call_times(header_.time_begin);
  TimesOfHeaders<uint64_t, PENNA_FULL_TIME_BITS> full_times(header_.time_begin);
  uint64_t counts = 0;
  uint32_t calls = 0, entries = 0, others = 0;
  Tally tally;
  const uint8_t* const data = data_;
  size_t at = at_, end = end_;
  while (at < end) {
    const uint64_t header = load_word(data + at);
    static_assert(PENNA_TAG_ENTRY == 1 && PENNA_TAG_EXIT == 2);
    if (((header + 1) & 2) != 0) {
      call_times.add(header);
      ++calls;
      entries += header & PENNA_TAG_ENTRY;
      at += sizeof header;
      continue;
    }
    const uint32_t kind = penna_header_kind(header);
    const size_t bytes = size_t{penna_header_words(header)} * 8;
    if (penna_header_tag(header) != PENNA_TAG_FULL || bytes < kRecordBytes[kind] || bytes > end - at) [[unlikely]] {
      at_ = at;
      if (!pass_over(header)) break;
      at = at_;
      end = end_;
      continue;
    }
    full_times.add(header);
    ++others;
    entries += kind == PENNA_KIND_CALL_ENTRY;
    counts += kCountOfKind[kind];
    tally.unknown += kind >= PENNA_KIND_COUNT;
    visit(kind, [&] { return full_record(header, at); });
    at += bytes;
  }
  at_ = at;
  const auto seen = [&tally](const auto& times) {
    tally.low = std::min(tally.low, times.low());
    tally.high = std::max(tally.high, times.high());
  };
  if (calls != 0) seen(call_times);
  if (others != 0) seen(full_times);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    tally.events[i] = static_cast<uint32_t>(counts >> i * kCountBits & ((1 << kCountBits) - 1));
  tally.events[PENNA_CALLS] += calls;
  tally.entries = entries;
  tally.records = calls + others;
  return tally;
}

// One pass over a chunk: what the collector must know of it.
struct ChunkSummary {
  size_t content_bytes = 0;  // header and records; 0 = not a chunk
  std::array<uint32_t, PENNA_CLASS_COUNT> events{};
  uint32_t entries = 0;  // of calls, included in `events`
  uint32_t records = 0;  // of all kinds
  uint32_t unknown = 0;  // of kinds unknown to this version
  uint32_t torn = 0;
  uint32_t holes = 0;
  size_t first_open = 0;  // offset of the first torn record or hole; content_bytes if none
  bool damaged = false;   // the records from `damaged_at` on could not be decoded
  size_t damaged_at = 0;
  uint64_t time_begin = 0;  // lowest and highest time of a record; penna_chunk.time_begin if there is none
  uint64_t time_end = 0;

  bool complete() const { return torn == 0 && holes == 0 && !damaged; }
};
// `visit`, where given, as in RecordCursor::pass_all(): the collector picks modules, sites and names.
ChunkSummary scan_chunk(std::span<const uint8_t> chunk);
template <typename Visit>
ChunkSummary scan_chunk(std::span<const uint8_t> chunk, Visit&& visit) {
  RecordCursor in(chunk);
  const RecordCursor::Tally tally = in.pass_all(visit);
  ChunkSummary summary;
  summary.events = tally.events;
  summary.entries = tally.entries;
  summary.records = tally.records;
  summary.unknown = tally.unknown;
  summary.content_bytes = in.content_end();
  summary.torn = in.torn();
  summary.holes = in.holes();
  summary.first_open = in.first_open();
  summary.damaged = in.damaged();
  summary.damaged_at = in.position();
  summary.time_begin = summary.records != 0 ? tally.low : in.header().time_begin;
  summary.time_end = summary.records != 0 ? tally.high : in.header().time_begin;
  return summary;
}

// Descriptive records as values. Empty if the payload is inconsistent.
std::optional<Module> decode_module(const Record& record);
std::optional<Site> decode_site(const Record& record);
std::string decode_thread_name(const Record& record);
// The thread that a name record is about if it is not its writer; serial 0: the writer's own name.
struct NamedThread {
  uint32_t serial = 0, tid = 0;
};
NamedThread decode_named_thread(const Record& record);

}  // namespace penna
