// SPDX-License-Identifier: MIT
// Which threads' events are wanted: --tid and --thread, while recording and when reading.
//
// Why one type: both sides must mean the same threads by the same words.
// Invariant: a thread once chosen stays chosen, even if it is renamed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recording/records.h"
#include "recording/types.h"

namespace penna {

struct ThreadChoice {
  std::vector<std::string> tids, names;  // as typed; a name may also be a number

  bool any() const { return !tids.empty() || !names.empty(); }
  bool means(uint32_t tid) const;
  bool means(const std::string& name) const;  // by a pattern
};

// The form in which a recording stores its options: "tid=12", "thread=worker*".
std::vector<std::string> thread_words(const ThreadChoice& choice);
ThreadChoice recorded_threads(const Session& session);

// Which threads of a process are chosen, as far as their names are known: for a caller that sees them appear.
class ThreadSelection {
 public:
  static constexpr size_t kMaxThreads = 1 << 16;  // known to be chosen; beyond this, all count as chosen

  explicit ThreadSelection(std::shared_ptr<const ThreadChoice> choice) : choice_(std::move(choice)) {}

  // A THREAD record, in a chunk with this header.
  void learn(const Record& record, const penna_chunk& header);
  bool means(const penna_chunk& header) const {
    return meant_.size() >= kMaxThreads || meant_.count(header.thread_serial) != 0 || choice_->means(header.tid);
  }
  // A thread that is not chosen may become so once it has another name.
  bool may_change() const { return !choice_->names.empty(); }

 private:
  std::shared_ptr<const ThreadChoice> choice_;
  std::unordered_set<uint32_t> meant_;  // serials
};

}  // namespace penna
