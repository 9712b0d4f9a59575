// SPDX-License-Identifier: MIT
// See call_parts.h.
#include "analysis/call_parts.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "model/events/processors.h"

namespace penna {

std::vector<ThreadRange> split_threads(const Recording& recording, size_t most) {
  const auto bytes_of = [&](uint32_t thread) {
    uint64_t bytes = 0;
    for (const ChunkRef& chunk : recording.chunks(thread)) bytes += chunk.stored_bytes;
    return bytes;
  };
  uint64_t all = 0;
  for (const ChunkRef& chunk : recording.chunks()) all += chunk.stored_bytes;
  std::vector<ThreadRange> parts;
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread) {
    const uint64_t bytes = bytes_of(thread);
    // Two that follow each other are larger than all / most * 2 together, except for the last: so there are `most`.
    if (parts.empty() || (parts.back().bytes + bytes) * most > all * 2) parts.push_back({thread, thread, 0});
    parts.back().end = thread + 1;
    parts.back().bytes += bytes;
  }
  return parts;
}

void read_parts(const std::vector<ThreadRange>& parts, size_t processors, const std::function<void(size_t)>& read,
                const std::function<void(size_t)>& done) {
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return parts[a].bytes > parts[b].bytes; });
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<size_t> next = 0, ended = 0;
  work_together(std::min(processors, parts.size()), [&] {
    for (size_t at; (at = next++) < order.size();) {
      read(order[at]);
      const size_t so_far = ++ended;
      if (std::this_thread::get_id() == caller) done(so_far);
    }
  });
  done(parts.size());
}

}  // namespace penna
