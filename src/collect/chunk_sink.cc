// SPDX-License-Identifier: MIT
// See chunk_sink.h.
#include "collect/chunk_sink.h"

#include <cstring>

namespace penna {
namespace {

penna_chunk header_of(std::span<const uint8_t> chunk) {
  penna_chunk header;
  std::memcpy(&header, chunk.data(), sizeof header);
  return header;
}

}  // namespace

ChunkSummary ChunkSink::scan(std::span<const uint8_t> chunk) {
  return scan_chunk(chunk, [&](const Record& record) {
    if (record.kind == PENNA_KIND_MODULE) {
      if (auto module = decode_module(record)) {
        module->ticks = record.time;
        modules_.push_back(std::move(*module));
      }
    } else if (record.kind == PENNA_KIND_SITE) {
      if (auto site = decode_site(record)) sites_.push_back(std::move(*site));
    } else if (record.kind == PENNA_KIND_THREAD) {
      penna_chunk header = header_of(chunk);
      threads_.push_back({header.thread_serial, header.tid, decode_thread_name(record), record.time});
    } else if (record.kind == PENNA_KIND_LOST) {
      const auto lost = record.as<penna_lost>();
      for (int i = 0; i < PENNA_CLASS_COUNT; ++i) lost_[i] += lost.count[i];
    } else if (record.kind == PENNA_KIND_BLOCKED) {
      blocked_ticks_ += record.as<penna_blocked>().ticks;
    }
  });
}

void ChunkSink::forget() {
  modules_.clear();
  sites_.clear();
  threads_.clear();
  lost_ = {};
  blocked_ticks_ = 0;
}

void ChunkSink::store(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  Health& health = health_[header_of(chunk).thread_serial];
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) health.lost[i] += lost_[i];
  health.blocked_ticks += blocked_ticks_;
  write_descriptions(writer);
  (void)writer.write_chunk(process_, chunk, summary);
  ++chunks_;
  raw_bytes_ += summary.content_bytes;
  torn_ += summary.torn;
  ++health.chunks;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    health.stored[i] += summary.events[i];
    stored_[i] += summary.events[i];
  }
  health.torn += summary.torn;
  health.holes += summary.holes;
  health.unknown += summary.unknown;
  health.damaged += summary.damaged ? 1 : 0;
}

void ChunkSink::store_open(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  write_descriptions(writer);
  (void)writer.write_open_chunk(process_, chunk, summary);
}

void ChunkSink::write_descriptions(RecordingWriter& writer) {
  if (!modules_.empty()) (void)writer.write_modules(process_, modules_);
  if (!sites_.empty()) (void)writer.write_sites(process_, sites_);
  if (!threads_.empty()) (void)writer.write_threads(process_, threads_);
  forget();
}

void ChunkSink::write_health(RecordingWriter& writer) {
  std::vector<Health> health;
  for (auto& [serial, of_thread] : health_) {
    of_thread.thread_serial = serial;
    health.push_back(of_thread);
  }
  (void)writer.write_health(process_, health);
}

}  // namespace penna
