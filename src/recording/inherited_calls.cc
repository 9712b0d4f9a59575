// SPDX-License-Identifier: MIT
// See inherited_calls.h.
#include "recording/inherited_calls.h"

#include <algorithm>
#include <tuple>

#include "recording/call_digest.h"
#include "recording/call_records.h"
#include "recording/process_parents.h"
#include "recording/reader.h"

namespace penna {
namespace {

// The thread with this serial in a process; UINT32_MAX if there is none.
uint32_t thread_of(const Recording& recording, uint32_t process, uint32_t serial) {
  const std::vector<uint32_t>& threads = recording.processes()[process].threads;
  const auto serial_of = [&](uint32_t thread) { return recording.threads()[thread].serial; };
  const auto found = std::lower_bound(threads.begin(), threads.end(), serial,
                                      [&](uint32_t thread, uint32_t wanted) { return serial_of(thread) < wanted; });
  return found != threads.end() && serial_of(*found) == serial ? *found : UINT32_MAX;
}

}  // namespace

// Sorted by the parent's thread, whose index is below its children's, then by time.
std::vector<InheritedCalls::Fork> InheritedCalls::forks_of(const Recording& recording) {
  std::vector<Fork> forks;
  const std::vector<uint32_t> parents = process_parents(recording);
  for (uint32_t child = 0; child < parents.size(); ++child) {
    const Process& process = recording.processes()[child].process;
    if (process.after_exec || process.forked_by == 0 || parents[child] == UINT32_MAX) continue;
    const uint32_t thread = thread_of(recording, child, 1);  // a forked child begins with one
    const uint32_t parent = thread_of(recording, parents[child], process.forked_by);
    if (thread == UINT32_MAX || parent == UINT32_MAX || recording.chunks(thread).empty()) continue;
    const uint64_t first = recording.chunks(thread).front().time_begin;
    forks.push_back({std::min(process.fork_ticks, first), parent, thread});
  }
  std::sort(forks.begin(), forks.end(), [](const Fork& a, const Fork& b) {
    return std::tie(a.parent, a.ticks, a.child) < std::tie(b.parent, b.ticks, b.child);
  });
  return forks;
}

InheritedCalls::InheritedCalls(const Recording& recording) {
  const std::vector<Fork> forks = forks_of(recording);
  if (!forks.empty()) slots_.resize(recording.threads().size());
  for (std::span<const Fork> left = forks; !left.empty();) {
    const auto next =
        std::find_if(left.begin(), left.end(), [&](const Fork& fork) { return fork.parent != left.front().parent; });
    const auto count = static_cast<size_t>(next - left.begin());
    walk(recording, left.first(count));
    left = left.subspan(count);
  }
}

// `forks`: of one thread, in order of time.
void InheritedCalls::walk(const Recording& recording, std::span<const Fork> forks) {
  CallDigest calls;
  if (const Of* before = of(forks.front().parent)) calls.inherit(before->pcs);
  std::vector<uint8_t> bytes;
  uint64_t now = 0;
  for (const ChunkRef& ref : recording.chunks(forks.front().parent)) {
    if (ref.events[PENNA_CALLS] == 0) continue;
    if (!recording.read_chunk(ref, bytes)) continue;
    RecordCursor in(bytes);
    Record record;
    while (in.next(record)) {
      now = std::max(now, record.time);
      for (; now > forks.front().ticks; forks = forks.subspan(1)) {
        hand_on(calls, forks.front());
        if (forks.size() == 1) return;
      }
      calls.add(record, false);
    }
  }
  for (const Fork& fork : forks) hand_on(calls, fork);
}

void InheritedCalls::hand_on(const CallDigest& calls, const Fork& fork) {
  std::vector<uint64_t> pcs = calls.open_calls();
  if (pcs.empty() || pcs.size() > left_) return;
  left_ -= pcs.size();
  lists_.push_back({std::move(pcs), fork.ticks});
  slots_[fork.child] = static_cast<uint32_t>(lists_.size());
}

std::deque<std::vector<uint8_t>> inherited_chunks(const Recording& recording, uint32_t thread) {
  std::deque<std::vector<uint8_t>> chunks;
  const InheritedCalls::Of* calls = recording.inherited_calls().of(thread);
  if (calls == nullptr) return chunks;
  penna_chunk header{};
  header.thread_serial = recording.threads()[thread].serial;
  header.tid = recording.threads()[thread].tid;
  append_calls(PENNA_KIND_CALL_ENTRY, calls->ticks, calls->pcs, header, chunks);
  return chunks;
}

}  // namespace penna
