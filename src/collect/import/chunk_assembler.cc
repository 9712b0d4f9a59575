// SPDX-License-Identifier: MIT
// See chunk_assembler.h.
#include "collect/import/chunk_assembler.h"

#include <algorithm>
#include <cstring>

namespace penna {

ChunkAssembler::Builder& ChunkAssembler::builder_for(uint32_t thread) {
  auto found = builders_.find(thread);
  // Thread numbers come from the input: beyond the limit, further ones share the first thread's chunks to bound our
  // memory.
  if (found == builders_.end() && builders_.size() >= kMaxThreads) found = builders_.begin();
  Builder& builder = found == builders_.end() ? builders_[thread] : found->second;
  if (builder.serial == 0) builder.serial = static_cast<uint32_t>(builders_.size());
  return builder;
}

void ChunkAssembler::add(RecordingWriter& writer, uint32_t thread, std::span<const uint8_t> record, uint64_t time) {
  Builder& builder = builder_for(thread);
  if (builder.chunk.size() + record.size() > PENNA_CHUNK_BYTES) flush(writer, thread, builder);
  // The header is filled in by flush(), once its times and its size are known; records follow it from the start.
  if (builder.chunk.empty()) {
    builder.chunk.resize(sizeof(penna_chunk));
    builder.first = builder.last = time;
  }
  builder.first = std::min(builder.first, time);
  builder.last = std::max(builder.last, time);
  builder.chunk.insert(builder.chunk.end(), record.begin(), record.end());
}

void ChunkAssembler::finish(RecordingWriter& writer) {
  for (auto& [thread, builder] : builders_) flush(writer, thread, builder);
}

void ChunkAssembler::flush(RecordingWriter& writer, uint32_t thread, Builder& builder) {
  if (builder.chunk.empty()) return;
  penna_chunk header{};
  header.ctf_magic = PENNA_CTF_MAGIC;
  // Earliest and latest of the records: an input need not be in order within a thread, and readers rely on these
  // bounds.
  header.time_begin = builder.first;
  header.time_end = builder.last;
  header.content_bits = builder.chunk.size() * 8;
  header.packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
  header.tid = thread;
  header.thread_serial = builder.serial;
  header.sequence = builder.sequence++;
  std::memcpy(builder.chunk.data(), &header, sizeof header);
  ChunkSummary summary = sink_.scan(builder.chunk);
  sink_.store(writer, builder.chunk, summary);
  // Frees the memory: a thread may never write again, and there may be thousands.
  builder.chunk = {};
}

}  // namespace penna
