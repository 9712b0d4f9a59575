// SPDX-License-Identifier: MIT
// ThreadsByTid: the thread that a number in a record means. A number that was given again means the last thread.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "model/events/event_cursor.h"
#include "recording/reader.h"

namespace penna {

class ThreadsByTid {
 public:
  explicit ThreadsByTid(const Recording& recording) {
    for (uint32_t i = 0; i < recording.threads().size(); ++i) {
      const RecordedThread& thread = recording.threads()[i];
      by_process_[pair_key(thread.process, thread.tid)] = i;
      by_tid_[thread.tid] = i;
    }
  }

  // Its index: one of the process, else one with this number in any, as locks may be shared. kNoIndex: none.
  uint32_t find(uint32_t process, uint32_t tid) const {
    if (tid == 0) return kNoIndex;
    if (const auto found = by_process_.find(pair_key(process, tid)); found != by_process_.end()) return found->second;
    const auto elsewhere = by_tid_.find(tid);
    return elsewhere == by_tid_.end() ? kNoIndex : elsewhere->second;
  }

 private:
  NumberMap<uint32_t> by_process_;  // process, tid -> index
  NumberMap<uint32_t> by_tid_;
};

}  // namespace penna
