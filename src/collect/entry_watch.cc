// SPDX-License-Identifier: MIT
// See entry_watch.h.
#include "collect/entry_watch.h"

#include <utility>

#include "base/free_memory.h"

namespace penna {

void EntryWatch::look_at(Watched& watched, const Entry& entry) {
  const uint64_t pc = entry.pc;
  // Functions are usually 16-byte aligned, so the low four bits carry no information.
  uint64_t& other = watched.others[pc / 16 % watched.others.size()];
  if (other == pc) return;
  const auto known = watched.functions.find(pc);
  bool wanted;
  if (known != watched.functions.end()) {
    wanted = known->second;
  } else {
    const FunctionTraits traits = functions_.ask(entry.process, pc, entry.ticks);
    wanted = traits.*which_;
    // A non-lasting answer may change (another module may be mapped at that address), so it is queried again each time.
    if (traits.placed && traits.lasting) {
      remember(watched, pc, wanted);
      if (!wanted) other = pc;
    }
    if (!traits.placed && watched.unplaced.size() < kMaxUnplaced) watched.unplaced.push_back(entry);
  }
  if (wanted) entered(entry);
}

void EntryWatch::look_at_exit(Watched& watched, const Entry& entry) {
  if (watched.others[entry.pc / 16 % watched.others.size()] == entry.pc) return;
  if (const auto known = watched.functions.find(entry.pc); known != watched.functions.end() && known->second)
    left(entry);
}

// The addresses come from processes, and may be anything.
void EntryWatch::remember(Watched& watched, uint64_t pc, bool wanted) {
  if (known_ >= most_functions_)
    for (auto& [process, one] : watched_) forget(one);
  known_ += watched.functions.insert_or_assign(pc, wanted).second;
}

void EntryWatch::forget(Watched& watched) {
  known_ -= watched.functions.size();
  free_memory(watched.functions);
}

// The function's module may be described by another thread, after the function was entered.
void EntryWatch::learn(uint32_t process, Watched& watched, const Record& record) {
  const auto module = decode_module(record);
  if (!module || !functions_.ask || !functions_.learn(process, *module)) return;
  forget(watched);
  watched.others = {};
  for (const Entry& entry : std::exchange(watched.unplaced, {})) look_at(watched, entry);
}

void EntryWatch::records(uint32_t process, std::span<const uint8_t> chunk) {
  if (!functions_.ask) return ForwardingObserver::records(process, chunk);
  Watched& watched = watched_[process];
  const penna_chunk header = header_of(chunk);
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_CALL_ENTRY)
      look_at(watched, {process, header.thread_serial, header.tid, record.pc, record.time});
    else if (record.kind == PENNA_KIND_CALL_EXIT && wants_exits_)
      look_at_exit(watched, {process, header.thread_serial, header.tid, record.pc, record.time});
    else if (record.kind == PENNA_KIND_MODULE)
      learn(process, watched, record);
    else if (record.kind == PENNA_KIND_LOST)
      lost(process, header.thread_serial);
  }
  ForwardingObserver::records(process, chunk);
}

void EntryWatch::ended(const ProcessEnd& end) {
  if (const auto found = watched_.find(end.number); found != watched_.end()) {
    forget(found->second);
    watched_.erase(found);
  }
  ForwardingObserver::ended(end);
}

}  // namespace penna
