// SPDX-License-Identifier: MIT
// See process_drain.h.
#include "collect/process_drain.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace penna {
namespace {

bool thread_exists(uint32_t pid, uint32_t tid) {
  return ::access(fmt::format("/proc/{}/task/{}", pid, tid).c_str(), F_OK) == 0;
}

penna_chunk header_of(const std::vector<uint8_t>& chunk) {
  penna_chunk header;
  std::memcpy(&header, chunk.data(), sizeof header);
  return header;
}

}  // namespace

ProcessDrain::ProcessDrain(ChannelMap channel, uint32_t number, uint32_t pid)
    : channel_(std::move(channel)), number_(number), pid_(pid), buffer_(PENNA_CHUNK_BYTES) {}

size_t ProcessDrain::drain(RecordingWriter& writer, size_t limit) {
  size_t taken = 0;
  // Chunks that waited for a record to be finished come first: they are older.
  std::vector<uint32_t> again;
  again.swap(unfinished_);
  for (uint32_t chunk : again)
    if (!take(writer, chunk, Origin::kRing, true)) unfinished_.push_back(chunk);
  uint32_t chunk_untrusted;
  while (taken < limit && channel_.next_full_chunk(&chunk_untrusted)) {
    ++taken;
    if (chunk_untrusted >= channel_.geometry().chunk_count) {
      ++health_[0].damaged;
      continue;
    }
    if (!take(writer, chunk_untrusted, Origin::kRing, true)) unfinished_.push_back(chunk_untrusted);
  }
  max_backlog_ = std::max<uint64_t>(max_backlog_, taken);
  if (taken != 0) write_new_stacks(writer);
  return taken;
}

// Copies a chunk, gives it back and stores the copy. False: a record in it is still being written, so it must wait.
bool ProcessDrain::take(RecordingWriter& writer, uint32_t chunk, Origin origin, bool wait_for_open_records) {
  const bool was_full = origin == Origin::kRing;
  size_t bytes = channel_.copy_chunk(chunk, buffer_.data());
  if (bytes < sizeof(penna_chunk)) {
    if (was_full) channel_.free_chunk(chunk, PENNA_CHUNK_BYTES, true);
    return true;
  }
  ChunkSummary summary = scan_chunk({buffer_.data(), bytes}, [this](const Record& record) {
    if (record.kind == PENNA_KIND_MODULE) {
      if (auto module = decode_module(record)) {
        module->ticks = record.time;
        modules_.push_back(std::move(*module));
      }
    } else if (record.kind == PENNA_KIND_SITE) {
      if (auto site = decode_site(record)) sites_.push_back(std::move(*site));
    } else if (record.kind == PENNA_KIND_THREAD) {
      penna_chunk header = header_of(buffer_);
      threads_.push_back({header.thread_serial, header.tid, decode_thread_name(record), record.time});
    }
  });
  if (wait_for_open_records && (summary.torn != 0 || summary.holes != 0)) {
    modules_.clear();
    sites_.clear();
    threads_.clear();
    return false;
  }
  channel_.free_chunk(chunk, std::max(bytes, summary.content_bytes), was_full);
  if (origin == Origin::kVanishedThread) ++health_[header_of(buffer_).thread_serial].abandoned;
  store(writer, bytes, summary);
  return true;
}

void ProcessDrain::store(RecordingWriter& writer, size_t bytes, const ChunkSummary& summary) {
  write_descriptions(writer);
  Health& health = health_[header_of(buffer_).thread_serial];
  (void)writer.write_chunk(number_, {buffer_.data(), bytes}, summary);
  ++chunk_count_;
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

void ProcessDrain::write_descriptions(RecordingWriter& writer) {
  if (!modules_.empty()) (void)writer.write_modules(number_, modules_);
  if (!sites_.empty()) (void)writer.write_sites(number_, sites_);
  if (!threads_.empty()) (void)writer.write_threads(number_, threads_);
  modules_.clear();
  sites_.clear();
  threads_.clear();
}

void ProcessDrain::write_new_stacks(RecordingWriter& writer) {
  std::vector<uint32_t> still_missing;
  for (uint32_t id : nodes_missing_) {
    penna_stack_node node = channel_.node(id);
    if (node.pc_generation == 0)
      still_missing.push_back(id);
    else
      (void)writer.write_stacks(number_, id, {&node, 1});
  }
  nodes_missing_.swap(still_missing);

  uint32_t count = channel_.node_count();
  if (count <= nodes_written_) return;
  std::vector<penna_stack_node> nodes;
  nodes.reserve(count - nodes_written_);
  for (uint32_t id = nodes_written_; id < count; ++id) {
    nodes.push_back(channel_.node(id));
    if (nodes.back().pc_generation == 0 && id != 0) nodes_missing_.push_back(id);
  }
  (void)writer.write_stacks(number_, nodes_written_, nodes);
  nodes_written_ = count;
}

void ProcessDrain::reclaim(RecordingWriter& writer) {
  uint32_t count = channel_.geometry().chunk_count;
  if (channel_.free_chunks() > count / 4) return;
  std::vector<bool> waiting(count);
  for (uint32_t chunk : unfinished_) waiting[chunk] = true;
  for (uint32_t chunk = 0; chunk < count; ++chunk) {
    if (channel_.is_free(chunk) || waiting[chunk]) continue;
    if (channel_.copy_chunk(chunk, buffer_.data()) < sizeof(penna_chunk)) continue;
    penna_chunk header = header_of(buffer_);
    // A chunk that was given away in the meantime comes through the ring: leave it there.
    if (header.content_bits == 0 && !thread_exists(pid_, header.tid))
      take(writer, chunk, Origin::kVanishedThread, false);
  }
}

void ProcessDrain::finish(RecordingWriter& writer, bool gone, EndKind how, int code, uint64_t end_ticks) {
  // A living target may go on for ever; each chunk can be full once in each turn.
  for (int turn = 0; turn < 4 && drain(writer, channel_.geometry().chunk_count) != 0; ++turn) {
  }
  for (uint32_t chunk : unfinished_) take(writer, chunk, Origin::kRing, false);
  unfinished_.clear();
  for (uint32_t chunk = 0; chunk < channel_.geometry().chunk_count; ++chunk) {
    if (channel_.is_free(chunk)) continue;
    // A living target goes on writing here: then only a copy of what is there is stored.
    if (gone) {
      take(writer, chunk, Origin::kDeadProcess, false);
    } else if (size_t bytes = channel_.copy_chunk(chunk, buffer_.data()); bytes >= sizeof(penna_chunk)) {
      store(writer, bytes, scan_chunk({buffer_.data(), bytes}));
    }
  }
  write_new_stacks(writer);

  penna_counters counters = channel_.counters();
  Health& process_health = health_[0];
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) process_health.lost[i] = lost_[i] = counters.lost[i];
  process_health.blocked_ticks = counters.blocked_ticks;
  std::vector<Health> health;
  for (auto& [serial, of_thread] : health_) {
    of_thread.thread_serial = serial;
    health.push_back(of_thread);
  }
  (void)writer.write_health(number_, health);
  (void)writer.write_process_end({number_, end_ticks, how, code, counters});
}

}  // namespace penna
