// SPDX-License-Identifier: MIT
// See stream_import.h.
#include "collect/import/stream_import.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace penna {
Result<StreamImport> StreamImport::open(std::span<const uint8_t> stream) {
  penna_stream_header header;
  if (stream.size() < sizeof header) return Error{"it is too short to be a stream of penna/stream.h"};
  std::memcpy(&header, stream.data(), sizeof header);
  if (header.magic != PENNA_STREAM_MAGIC) return Error{"it does not begin like a stream of penna/stream.h"};
  if (header.version != PENNA_STREAM_VERSION)
    return Error{
        fmt::format("it is a stream of version {}, and this penna reads version {}: use the penna that its source was "
                    "built with",
                    header.version, uint32_t{PENNA_STREAM_VERSION})};
  // A longer header than ours is fine: the bytes after the known fields are skipped.
  if (header.bytes < sizeof header || header.bytes % 8 != 0 || header.bytes > stream.size())
    return Error{fmt::format("its header claims an impossible length of {} bytes", header.bytes)};
  return StreamImport(stream, header);
}

StreamImport::StreamImport(std::span<const uint8_t> stream, const penna_stream_header& header)
    : stream_(stream), header_(header), now_(header.ticks) {}

std::string StreamImport::source() const {
  return std::string(header_.source, ::strnlen(header_.source, sizeof header_.source));
}

StreamSummary StreamImport::write(RecordingWriter& writer, const Session& session) {
  (void)writer.write_session(session);
  (void)writer.write_clock(session.start);
  Process process;
  process.executable = source();
  process.start_ticks = header_.ticks;
  (void)writer.write_process(process);

  for (size_t at = header_.bytes; at < stream_.size();) {
    // Each word is examined once as the beginning of a unit: linear in the size, whatever the bytes.
    if (size_t bytes = unit_at(at); bytes != 0) {
      take(writer, stream_.subspan(at, bytes));
      at += bytes;
      continue;
    }
    // Resynchronizes on the next plausible unit: units are word-aligned, and begin with a mark.
    size_t next = at;
    while (next < stream_.size() && unit_at(next) == 0) next += 8;
    next = std::min(next, stream_.size());
    // Less than one unit at the end means that the stream was cut off; in the middle it is damage.
    const bool is_end = next == stream_.size() && next - at < size_t{PENNA_MAX_UNIT_WORDS} * 8;
    (is_end ? summary_.cut_bytes : summary_.damaged_bytes) += next - at;
    at = next;
  }
  chunks_.finish(writer);

  Health& health = sink_->health(0);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) health.lost[i] = summary_.lost[i];
  if (summary_.damaged_bytes != 0) ++health.damaged;
  if (summary_.cut_bytes != 0) ++health.torn;
  sink_->write_health(writer);
  ProcessEnd end;
  end.end_ticks = now_;
  end.how = EndKind::kStopped;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) end.counters.lost[i] = summary_.lost[i];
  (void)writer.write_process_end(end);
  CollectorHealth collector;
  collector.chunks = sink_->counts().chunks;
  collector.raw_bytes = sink_->counts().raw_bytes;
  collector.processes = 1;
  (void)writer.write_collector(collector);
  summary_.threads = chunks_.threads();
  summary_.events = sink_->counts().stored;
  summary_.calls = sink_->counts().call_entries;
  return summary_;
}

size_t StreamImport::unit_at(size_t at) const {
  if (stream_.size() - at < 16) return 0;
  uint64_t prefix = load_word(stream_.data() + at), header = load_word(stream_.data() + at + 8);
  uint32_t kind = penna_header_kind(header);
  size_t bytes = 8 + size_t{penna_header_words(header)} * 8;
  // A call in compact form needs the context of a chunk, which does not exist here.
  bool sound = prefix >> 32 == PENNA_UNIT_MARK && penna_header_tag(header) == PENNA_TAG_FULL &&
               // The mark may occur in a payload by chance: tag, kind and length must fit, too.
               bytes >= 8u + kRecordBytes[kind] && bytes <= stream_.size() - at;
  return sound ? bytes : 0;
}

void StreamImport::take(RecordingWriter& writer, std::span<const uint8_t> unit) {
  auto thread = static_cast<uint32_t>(load_word(unit.data()));
  std::span<const uint8_t> record = unit.subspan(8);
  uint64_t header = load_word(record.data());
  // A header has 48 bits of time: the upper bits are those of the latest record.
  uint64_t time = penna_extend_time(now_, header >> 16, PENNA_FULL_TIME_BITS);
  // Units of several processors interleave, so times go back a little; a step back is not a wrap-around.
  now_ = std::max(now_, time);
  ++summary_.units;
  Record in_place{penna_header_kind(header), static_cast<uint32_t>(record.size() - 8), time, 0, record.data() + 8};
  if (describes(writer, thread, in_place)) return;
  if (in_place.kind == PENNA_KIND_LOST) {
    auto lost = in_place.as<penna_lost>();
    for (int i = 0; i < PENNA_CLASS_COUNT; ++i) summary_.lost[i] += lost.count[i];
    // The losses of the whole ring, reported by its reader: they belong to no thread.
    if (thread == 0) return;
  }
  chunks_.add(writer, thread, record, time);
}

// Descriptions are written at once: their time is when the ring was read, later than the events they describe, so they
// apply from the beginning.
bool StreamImport::describes(RecordingWriter& writer, uint32_t thread, const Record& record) {
  if (record.kind == PENNA_KIND_SITE) {
    if (auto site = decode_site(record)) (void)writer.write_sites(0, {&*site, 1});
  } else if (record.kind == PENNA_KIND_MODULE) {
    if (auto module = decode_module(record)) (void)writer.write_modules(0, {&*module, 1});
  } else if (record.kind == PENNA_KIND_THREAD) {
    Thread named{chunks_.serial(thread), thread, decode_thread_name(record), 0};
    (void)writer.write_threads(0, {&named, 1});
  } else {
    return false;
  }
  return true;
}

}  // namespace penna
