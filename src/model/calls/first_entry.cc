// SPDX-License-Identifier: MIT
// See first_entry.h. Reads chunks in order of their beginning: those that begin after the entry found need not be read.
#include "model/calls/first_entry.h"

#include <algorithm>
#include <vector>

#include "recording/records.h"

namespace penna {

uint64_t first_entry(const Recording& recording,
                     const std::function<bool(uint32_t process, uint64_t pc, uint64_t ticks)>& is_meant) {
  std::vector<ChunkRef> chunks(recording.chunks().begin(), recording.chunks().end());
  std::erase_if(chunks, [](const ChunkRef& chunk) { return chunk.events[PENNA_CALLS] == 0; });
  std::sort(chunks.begin(), chunks.end(),
            [](const ChunkRef& a, const ChunkRef& b) { return a.time_begin < b.time_begin; });
  uint64_t first = UINT64_MAX;
  std::vector<uint8_t> bytes;
  for (const ChunkRef& chunk : chunks) {
    if (chunk.time_begin >= first) break;
    // Damaged chunk: its contents are unknown; another walk counts damage.
    if (!recording.read_chunk(chunk, bytes)) continue;
    RecordCursor in(bytes);
    Record record;
    uint64_t time = 0;  // never decreases, as in EventCursor
    while (in.next(record)) {
      time = std::max(time, record.time);
      if (time >= first) break;
      if (record.kind == PENNA_KIND_CALL_ENTRY && is_meant(chunk.process, record.pc, time)) first = time;
    }
  }
  return first;
}

}  // namespace penna
