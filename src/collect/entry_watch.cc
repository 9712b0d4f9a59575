// SPDX-License-Identifier: MIT
// See entry_watch.h.
#include "collect/entry_watch.h"

#include <utility>

#include "base/free_memory.h"

namespace penna {

void EntryWatch::look_at(uint32_t process, Watched& watched, uint64_t pc, uint64_t ticks) {
  // Functions are usually 16-byte aligned, so the low four bits carry no information.
  uint64_t& other = watched.others[pc / 16 % watched.others.size()];
  if (other == pc) return;
  const auto known = watched.functions.find(pc);
  bool wanted;
  if (known != watched.functions.end()) {
    wanted = known->second;
  } else {
    const FunctionTraits traits = functions_.ask(process, pc, ticks);
    wanted = traits.*which_;
    // A non-lasting answer may change (another module may be mapped at that address), so it is queried again each time.
    if (traits.placed && traits.lasting) {
      remember(watched, pc, wanted);
      if (!wanted) other = pc;
    }
    if (!traits.placed && watched.unplaced.size() < kMaxUnplaced) watched.unplaced.push_back({pc, ticks});
  }
  if (wanted) entered(process, pc, ticks);
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
  for (const auto& [pc, ticks] : std::exchange(watched.unplaced, {})) look_at(process, watched, pc, ticks);
}

void EntryWatch::records(uint32_t process, std::span<const uint8_t> chunk) {
  if (!functions_.ask) return ForwardingObserver::records(process, chunk);
  Watched& watched = watched_[process];
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_CALL_ENTRY && functions_.ask)
      look_at(process, watched, record.pc, record.time);
    else if (record.kind == PENNA_KIND_MODULE)
      learn(process, watched, record);
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
